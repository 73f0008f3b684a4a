//===- Optimize.cpp - simplify a model and write it back ------------------===//

#include "engine/SampleSizes.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/Simplification.h"

#include "graph/Metadata.h"
#include "graph/Quantization.h"
#include "graph/Source.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/DeclareStates.h"
#include "passes/EmbedPreprocessing.h"
#include "passes/Freeze.h"
#include "passes/MoveRescales.h"
#include "runtime/MemoryFiles.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace sinter {

SimplifyOptions simplifyOptions(const PassOptions &passes,
                                ReplacementWatcher *watcher) {
  SimplifyOptions options;
  options.mostSteps = passes.mostSteps;
  options.watcher = watcher;
  options.disabledPatterns = passes.disabledPatterns;
  options.enabledPatterns = passes.enabledPatterns;
  options.allowed = passes.allowed;
  options.verifyNumerics = passes.verifyNumerics;
  options.verifyEach = passes.verifyEach;
  options.verifySizes.shapes = passes.verifyShapes;
  options.printIrAfter = passes.printIrAfter;
  options.cancellation = passes.cancellation;
  if (passes.printIr)
    options.printIr = [print = passes.printIr](llvm::StringRef text) {
      print(text.str());
    };
  return options;
}

/// Errors that are not about the options name the model.
static Result<SimplifyReport> ofModel(const Model &model,
                                      Result<SimplifyReport> report) {
  if (report)
    return report;
  Error error = report.takeError();
  return error.kind == ErrorKind::Usage ? error
                                        : inFile(std::move(error), model.path);
}

/// " at x 1x8x7; x 3x8x9"; empty if all sizes are static.
static std::string
shapesText(const std::vector<std::map<std::string, Shape>> &all) {
  std::string text;
  for (const auto &shapes : all) {
    text += text.empty() ? " at " : "; ";
    llvm::ListSeparator separator;
    for (const auto &[name, shape] : shapes)
      text += (llvm::StringRef(separator) + name + " " +
               llvm::join(llvm::map_range(shape,
                                          [](int64_t size) {
                                            return std::to_string(size);
                                          }),
                          "x"))
                  .str();
  }
  return text;
}

void tellVerified(const PassOptions &passes, const char *stage,
                  const NumericsFacts &facts) {
  if (!passes.note || !(passes.verifyNumerics || passes.verifyEach))
    return;
  passes.note(
      optionText("verify-numerics") +
      llvm::formatv(
          ": {0}: all agree: {1} comparisons of graphs{2}, {3} of tensors; "
          "largest difference {4:e2} of a tensor's largest magnitude{5}{6}{7}",
          stage, facts.comparisons, shapesText(facts.shapes), facts.tensors,
          facts.largestDifference, facts.where.empty() ? "" : ": ", facts.where,
          facts.rounded == 0 ? std::string()
                             : "; " + std::to_string(facts.rounded) +
                                   " more differ by what f32 had lost before")
          .str());
  if (!facts.endedBy.empty())
    passes.note(optionText("verify-numerics") + ": " + std::string(stage) +
                ": nothing was compared from here on: " + facts.endedBy);
}

static Result<SimplifyReport> toldOf(const PassOptions &passes,
                                     const char *stage,
                                     Result<SimplifyReport> report) {
  if (report)
    tellVerified(passes, stage, report->verified);
  return report;
}

/// int8 operands of matmuls stay int8 for kernels.
static SimplifyOptions optionsForKernels(const PassOptions &passes,
                                         ReplacementWatcher *watcher) {
  SimplifyOptions options = simplifyOptions(passes, watcher);
  options.keepsQuantizedConstants = true;
  return options;
}

Result<SimplifyReport> simplifyWith(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher) {
  return toldOf(
      passes, "simplification",
      ofModel(model, simplify(model, optionsForKernels(passes, watcher))));
}

Result<SimplifyReport> raiseWith(Model &model, const PassOptions &passes,
                                 ReplacementWatcher *watcher) {
  return toldOf(passes, "raising for kernels",
                ofModel(model, raiseForKernels(
                                   model, optionsForKernels(passes, watcher))));
}

/// Whether \p report is of a pass that found errors.
static bool didSomething(const SimplifyReport &report) {
  return llvm::any_of(report.patterns,
                      [](const auto &pattern) { return pattern.second != 0; });
}

Result<SimplifyReport> raiseQuantizedWith(Model &model,
                                          const PassOptions &passes,
                                          ReplacementWatcher *watcher) {
  SimplifyOptions options = simplifyOptions(passes, watcher);
  const bool verifies = options.verifyNumerics || options.verifyEach;
  options.verifyNumerics = options.verifyEach = false;
  Result<SimplifyReport> report =
      ofModel(model, raiseQuantized(model, options));
  if (report && passes.note && verifies && didSomething(*report))
    passes.note(optionText("verify-numerics") +
                " does not look at raise-quantized, by which "
                "results may change by one step of a scale");
  return report;
}

/// Whether there are quantised activations or weights. A model that only scales
/// integers, an image's, for example, is not quantised.
static bool isQuantized(const Model &model) {
  bool found = false;
  model.module().walk([&](mlir::Operation *op) {
    found |= mlir::isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op) ||
             (mlir::isa<stablehlo::UniformDequantizeOp>(op) &&
              op->getOperand(0).getDefiningOp<stablehlo::ConstantOp>());
  });
  return found;
}

Result<void> raiseQuantizeOperators(Model &model) {
  SimplifyOptions options;
  options.disabledPatterns = {"all"};
  options.enabledPatterns = {"raise-quantize", "raise-dequantize",
                             "cancel-bitcasts"};
  Model raised = model.clone();
  Result<SimplifyReport> report =
      ofModel(model, raiseQuantized(raised, options));
  if (!report)
    return report.takeError();
  if (isQuantized(raised))
    model = std::move(raised);
  return {};
}

static bool hasQuantizedTypes(const Model &model) {
  return model.module()
      .walk([](mlir::Operation *op) {
        return hasQuantizedType(op) ? mlir::WalkResult::interrupt()
                                    : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the model is to be raised: also if rescales may move and the file
/// has one as a DequantizeLinear and a QuantizeLinear of another scale.
static Result<bool> isRaised(const OptimizeRequest &request,
                             const Model &model) {
  if (request.raiseQuantized ||
      !llvm::is_contained(request.passes.allowed, "requantize"))
    return request.raiseQuantized;
  Model probe = model.clone();
  if (Result<SimplifyReport> done = ofModel(model, raiseQuantized(probe));
      !done)
    return done.takeError();
  return countRescales(probe.module()) > countRescales(model.module());
}

/// Shapes of inputs at which to compare \p model, if it has dynamic dimensions.
static Result<std::vector<NamedShapes>> shapesToVerify(const Model &model) {
  Result<ModelDescription> description = describeModel(model);
  if (!description)
    return description.takeError();
  std::vector<Shape> dynamic;
  for (const ModelInput &input : description->inputs)
    dynamic.push_back(input.spec.shape);
  const auto named = [&](const std::vector<Shape> &shapes) {
    NamedShapes all;
    for (auto [input, shape] : llvm::zip_equal(description->inputs, shapes))
      all[input.spec.name] = shape;
    return all;
  };
  std::vector<NamedShapes> all;
  for (const SampleSizes &sizes : sampleSizes(
           *description, dynamic, [&](const std::vector<Shape> &shapes) {
             SpecializeOptions known;
             known.shapes = named(shapes);
             Model sized = model.clone();
             return static_cast<bool>(specializeForPasses(sized, known));
           }))
    if (!sizes.chosen.empty())
      all.push_back(named(sizes.shapes));
  return all;
}

/// Makes the pairs of \p request states of \p model. Those of dynamic sizes are
/// kept for what runs streams.
static Result<void> declareStates(const OptimizeRequest &request,
                                  const Format &format, Model &model) {
  std::vector<std::string> fed;
  for (const std::string &pair : request.states) {
    if (isDynamicState(model, pair))
      fed.push_back(pair);
    else if (Result<void> declared = declareState(model, pair); !declared)
      return declared;
  }
  if (fed.empty())
    return {};
  if (!format.hasMetadata)
    return unsupported("files of " + format.title.str() +
                       " cannot keep states of dynamic sizes; " +
                       optionText("shape") + " of the inputs may fix them");
  setMetadata(model.module(), feedsKey, llvm::join(fed, "\n"));
  return {};
}

/// Calls the request's check of the model.
static Result<void> checkModelFor(const OptimizeRequest &request,
                                  const ModelToRewrite &read) {
  if (!request.checkModel)
    return {};
  // Files that declare nothing are described by their graph.
  if (!read.description.outputs.empty())
    return request.checkModel(read.description);
  Result<ModelDescription> description = describeModel(read.model);
  return description ? request.checkModel(*description)
                     : description.takeError();
}

/// Checks that the format has the operators that are asked for.
static Result<void> checkOperatorSet(const OptimizeRequest &request,
                                     const ModelToRewrite &read) {
  const bool isAsked = request.standardOperators || request.forOnnxRuntime;
  if (request.standardOperators && request.forOnnxRuntime)
    return usageError(optionText("standard-operators") + " and " +
                      optionText("target") + " onnxruntime exclude each other");
  if (isAsked && !read.format->hasRuntimeOperators)
    return inFile(usageError(optionText("standard-operators") + " and " +
                             optionText("target") +
                             " are for formats with operators of runtimes, "
                             "as ONNX is, not for " +
                             read.format->title.str()),
                  request.input.path);
  return {};
}

/// What the file of \p format that was written at \p path consists of.
static Result<FileCounts> countsOfFile(const Format &format,
                                       const std::string &path) {
  auto file = openModelFile(format, path);
  return file ? (*file)->counts() : file.takeError();
}

/// The same of a file that is only written to be counted, like that at \p path:
/// with an extension that it has, or another one of the format.
static Result<FileCounts> countsInMemory(const Model &model,
                                         const Format &format,
                                         const std::string &path,
                                         const WriteOptions &options) {
  std::vector<std::string> suffixes;
  for (const Extension &each : format.extensions)
    if (each.isListed && each.suffix != "/")
      suffixes.insert(llvm::StringRef(path).ends_with(each.suffix)
                          ? suffixes.begin()
                          : suffixes.end(),
                      each.suffix.str());
  Result<void> written = unsupported("nothing can be written");
  for (const std::string &suffix : suffixes) {
    const MemoryFolder folder;
    const std::string inMemory = folder.path("model" + suffix);
    written = format.write(model, inMemory, options);
    if (written)
      return countsOfFile(format, inMemory);
  }
  return inFile(written.takeError(), path);
}

/// Of the model as it is in its file.
static ModelFlops flopsOfFile(ModelRequest request) {
  request.note = nullptr;
  const auto none = [](const Error &error) {
    ModelFlops flops;
    flops.note = error.message();
    return flops;
  };
  auto model = MlirCompiler().open(request);
  if (!model)
    return none(model.error());
  Result<SizedFacts> facts = (*model)->sizedFacts(request.shapes);
  return facts ? std::move(facts->flops) : none(facts.error());
}

Result<OptimizeReport> MlirCompiler::optimize(const OptimizeRequest &given) {
  OptimizeRequest request = given;
  const Format *written = nullptr;
  if (!request.output.empty()) {
    Result<WrittenForm> form = writtenForm(request.output);
    if (!form)
      return form.takeError();
    written = form->format;
  }
  Result<ModelToRewrite> read =
      readToRewrite(request.input, /*to=*/nullptr,
                    {.freezesDefaults = request.freeze,
                     .expandsUnknown = false,
                     .standardOperators = request.standardOperators});
  if (!read)
    return inFile(read.takeError(), request.input.path);
  if (written && written != read->format)
    return usageError("'" + request.output +
                      "': `optimize` writes the format that it reads; `sinter "
                      "convert` changes it");
  if (written)
    if (Result<void> good =
            checkOverwrite(request.input.path, read->description,
                           request.output, request.overwrite);
        !good)
      return good.takeError();
  if (!request.metadata.empty() && !read->format->hasMetadata &&
      !request.embeds)
    return inFile(unsupported("files of " + read->format->title.str() +
                              " cannot keep '" +
                              request.metadata.front().first + "'"),
                  request.input.path);
  if (Result<void> good = checkOperatorSet(request, *read); !good)
    return good.takeError();
  if (Result<void> good = checkModelFor(request, *read); !good)
    return inFile(good.takeError(), request.input.path);
  Model &model = read->model;
  // The output may replace the file.
  ModelFlops flops;
  if (request.counts)
    flops = flopsOfFile(request.input);
  for (const auto &[key, text] : request.metadata)
    setMetadata(model.module(), key, text);
  if (Result<void> declared = declareStates(request, *read->format, model);
      !declared)
    return inFile(declared.takeError(), request.input.path);
  if (request.freeze)
    if (Result<void> frozen = freeze(model); !frozen)
      return inFile(frozen.takeError(), request.input.path);
  if (request.embeds)
    if (Result<void> done = embedPreprocessing(model, *request.embeds); !done)
      return inFile(done.takeError(), request.input.path);
  SimplifyReport raised;
  // Passes report models without a function to run.
  if (request.passes.verifyNumerics)
    if (auto shapes = shapesToVerify(model))
      request.passes.verifyShapes = std::move(*shapes);
  Result<bool> raises = isRaised(request, model);
  if (!raises)
    return raises.takeError();
  if (*raises) {
    Result<SimplifyReport> done = raiseQuantizedWith(model, request.passes);
    if (!done)
      return done.takeError();
    raised = std::move(*done);
  }
  SimplifyOptions options = simplifyOptions(request.passes);
  // Integer inputs stay integers.
  options.keepsQuantizedConstants = *raises || hasQuantizedTypes(model);
  options.changesOutputs = request.changeOutputs;
  Result<SimplifyReport> simplified =
      toldOf(request.passes, "simplification",
             ofModel(model, simplify(model, options)));
  if (!simplified)
    return simplified.takeError();
  if (request.forOnnxRuntime) {
    // What passes leave alone for other runtimes, this one has operators for.
    model.module()->removeAttr(wholeSourcesAttribute);
    Result<SimplifyReport> done =
        ofModel(model, raiseForRuntime(model, options));
    if (!done)
      return done.takeError();
    for (const auto &[label, count] : done->patterns)
      simplified->patterns[label] += count;
    simplified->operationsAfter = std::move(done->operationsAfter);
  }
  if (*raises) {
    simplified->operationsBefore = std::move(raised.operationsBefore);
    for (const auto &[label, count] : raised.patterns)
      simplified->patterns[label] += count;
  }
  const WriteOptions writing = {.targetVersion = "",
                                .forOnnxRuntime = request.forOnnxRuntime};
  if (!request.output.empty())
    if (Result<void> done = writeModel(model, request.output, writing); !done)
      return ofInput(done.takeError(), request.input.path);
  const auto sorted = [](const std::map<std::string, uint64_t> &map) {
    return Counts(map.begin(), map.end());
  };
  OptimizeReport report;
  report.before = sorted(simplified->operationsBefore);
  report.after = sorted(simplified->operationsAfter);
  report.patterns = sorted(simplified->patterns);
  report.rescalesBefore = static_cast<int64_t>(simplified->rescalesBefore);
  report.rescalesAfter = static_cast<int64_t>(simplified->rescalesAfter);
  report.notes = sourceNotes(model.module());
  report.flops = std::move(flops);
  if (!request.counts)
    return report;
  report.fileBefore = std::move(read->counts);
  Result<FileCounts> after =
      request.output.empty()
          ? countsInMemory(model, *read->format, request.input.path, writing)
          : countsOfFile(*read->format, request.output);
  if (after)
    report.fileAfter = std::move(*after);
  else if (request.output.empty() &&
           after.error().kind == ErrorKind::Unsupported)
    report.notes.push_back("it could not be written: " +
                           after.error().message());
  else
    return after.takeError();
  return report;
}

std::vector<PatternDescription> MlirCompiler::patterns() {
  std::vector<PatternDescription> list;
  for (const PatternInfo &pattern : allPatterns())
    list.push_back(
        {pattern.label.str(), pattern.picture.str(), pattern.pass.str(),
         toString(static_cast<Allowance>(pattern.needs)), pattern.isForm});
  return list;
}

} // namespace sinter
