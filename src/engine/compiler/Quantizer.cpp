//===- Quantizer.cpp - the stages of quantising a model -------------------===//

#include "engine/compiler/Quantizer.h"

#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/ModelSource.h"
#include "engine/compiler/Simplification.h"
#include "engine/compiler/TensorNames.h"
#include "graph/Metadata.h"
#include "graph/Origin.h"
#include "graph/Source.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/ValueNumbers.h"
#include "quantize/Insert.h"
#include "runtime/Hash.h"
#include "runtime/MappedFile.h"
#include "runtime/MemoryFiles.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/StringExtras.h"

#include <filesystem>
#include <span>

using namespace mlir;

namespace sinter {

using quantize::Plan;
using quantize::TensorProfile;

static int64_t bytesOfFile(const std::string &path) {
  if (const auto file = memoryFileAt(path))
    return static_cast<int64_t>(file->bytes.size());
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

/// The files written at \p path, and beside it or in it.
static int64_t bytesWritten(const std::string &path, const Format &format) {
  namespace fs = std::filesystem;
  std::error_code error;
  int64_t bytes = 0;
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator entry(path, error), end;
         !error && entry != end; entry.increment(error))
      bytes += bytesOfFile(entry->path().string());
    return bytes;
  }
  if (format.besides)
    for (const std::string &file : format.besides(path))
      bytes += bytesOfFile(file);
  return bytes + bytesOfFile(path);
}

/// A quantised model needs no quantisation.
static Error quantizedAlready(const std::string &path) {
  return inFile(
      withHint("`sinter optimize --raise-quantized` simplifies it, and "
               "`--allow=requantize` moves its rescales to where they vanish",
               usageError("the model is quantised already")),
      path);
}

static bool isQuantizedAlready(const Model &model) {
  bool found = false;
  model.entry().walk([&](Operation *op) {
    found |= isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp,
                 nn::QuantizeOp>(op);
  });
  return found;
}

/// Defaults of the scheme: zero points if the written format has them, unsigned
/// storage if matmuls of signed weights may take it.
void Quantizer::chooseForFormat() {
  using quantize::Scheme;
  if (!request.hasScheme && written && !written->hasZeroPoints)
    chosen.scheme = Scheme::Symmetric;
  const bool isSigned = chosen.scheme == Scheme::Symmetric ||
                        chosen.scheme == Scheme::PowerOfTwo ||
                        (written && written->hasQuantizedTypes);
  if (!request.hasActivations && isSigned)
    chosen.activations = ElementType::I8;
}

/// Why \p model cannot be compiled to run samples; empty if it can.
static std::string whyItDoesNotRun(const Model &model) {
  std::string why;
  model.entry().walk([&](Operation *op) {
    std::string kind, reason;
    if (auto deferred = dyn_cast<nn::DeferredOp>(op)) {
      kind = deferred.getKind().str();
      reason = deferred.getReason().str();
    } else if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
               call && sourceOf(op)) {
      // Nodes that the reader keeps have notes, if there is a reason.
      kind = call.getCallTargetName().str();
      const std::vector<std::string> notes = sourceNotes(model.module());
      reason = notes.empty() ? "there is no form of it that runs"
                             : llvm::join(notes, "; ");
    } else {
      return WalkResult::advance();
    }
    const std::string name = originOf(op->getLoc());
    why = (name.empty() ? "" : "node '" + name + "' ") + "(" + kind +
          ") cannot be run on samples: " + reason;
    return WalkResult::interrupt();
  });
  return why;
}

/// The graph to be written. If a node of it cannot run on samples without
/// sizes, it becomes operations of dynamic sizes if that suffices.
Result<ModelToRewrite> Quantizer::readGraph() const {
  std::optional<ModelToRewrite> first;
  std::vector<std::string> firstNotes;
  const auto tell = [&](const std::vector<std::string> &notes) {
    for (const std::string &note : notes)
      if (request.input.note)
        request.input.note(note);
  };
  for (bool expandsUnknown : {false, true}) {
    std::vector<std::string> notes;
    ModelRequest input = request.input;
    input.note = [&](const std::string &note) { notes.push_back(note); };
    // Weights that callers may replace have no ranges.
    Result<ModelToRewrite> read = readToRewrite(
        input, written,
        {.freezesDefaults = true, .expandsUnknown = expandsUnknown});
    const bool isWanted =
        read && (options().weightsOnly || whyItDoesNotRun(read->model).empty());
    if (isWanted || (!first && !read)) {
      tell(notes);
      return read;
    }
    if (!first) {
      first = std::move(*read);
      firstNotes = std::move(notes);
    }
  }
  tell(firstNotes);
  return std::move(*first);
}

Result<void> Quantizer::read() {
  if (!request.output.empty()) {
    Result<WrittenForm> form = writtenForm(request.output);
    if (!form)
      return form.takeError();
    written = form->format;
    if (options().block && !written->hasBlockScales)
      return unsupported("'" + request.output + "': " + written->title.str() +
                         " has no form for weights with a scale for a block "
                         "of them; .onnx has");
  }
  chooseForFormat();
  Result<ModelToRewrite> read = readGraph();
  if (!read)
    return inFile(read.takeError(), request.input.path);
  if (!request.output.empty())
    if (Result<void> good =
            checkOverwrite(request.input.path, read->description,
                           request.output, request.overwrite);
        !good)
      return good;
  model = std::move(read->model);
  description = std::move(read->description);
  report.before.bytes = bytesOfFile(request.input.path);
  const std::string folder =
      std::filesystem::path(request.input.path).parent_path().string();
  for (const std::string &file : description.dataFiles)
    report.before.bytes +=
        bytesOfFile(folder.empty() ? file : folder + "/" + file);
  // Some formats determine the inputs only on reading.
  if (description.inputs.empty()) {
    Result<ModelDescription> known = describeModel(model);
    if (!known)
      return inFile(known.takeError(), request.input.path);
    known->dataFiles = std::move(description.dataFiles);
    description = std::move(*known);
  }
  markShapeInputs(model, description);
  Model raised = model.clone();
  if (Result<SimplifyReport> done = raiseQuantized(raised); !done)
    return inFile(done.takeError(), request.input.path);
  if (isQuantizedAlready(raised))
    return quantizedAlready(request.input.path);
  // Before numbering: nodes are identified by all attributes of their
  // operations.
  std::map<int64_t, std::string> byNumber;
  ValueNumbers numbers;
  {
    const TensorNames known(model);
    llvm::DenseMap<Value, std::string> nameOf;
    for (Value value : valuesInOrder(model))
      nameOf[value] = known.nameOf(value);
    numbers.number(model.module());
    for (const NumberedValue &each : ValueNumbers::valuesOf(model.module()))
      byNumber[each.number] = nameOf.lookup(each.value);
  }
  Result<SimplifyReport> simplified =
      simplify(model, simplifyOptions(request.passes, &numbers));
  if (!simplified)
    return inFile(simplified.takeError(), request.input.path);
  nameValues(byNumber);
  ValueNumbers::remove(model.module());
  // The equalised graph is evaluated, too.
  floatRuns = std::make_unique<SampleRuns>(model.clone(), request, description);
  return {};
}

Result<QuantizedModel> Quantizer::quantized(quantize::Exceptions exceptions) {
  if (Result<void> goesOn =
          Cancellation::check(request.passes.cancellation.get(), "quantising");
      !goesOn)
    return goesOn.takeError();
  QuantizedModel made;
  made.model = model.clone();
  llvm::DenseMap<Value, const TensorProfile *> profiles;
  for (auto [own, copy] : copiesIn(made.model, model))
    if (const TensorProfile *known = profileOf(own))
      profiles[copy] = known;
  const auto profileOf = [&](Value value) { return profiles.lookup(value); };
  made.units = quantize::findUnits(made.model);
  for (const auto &[unit, reason] : slow)
    exceptions.left.try_emplace(unit, reason);
  Result<Plan> plan =
      quantize::makePlan(made.units, profileOf, options(), exceptions);
  if (!plan)
    return plan.takeError();
  made.plan = std::move(*plan);
  quantize::insertQuantization(made.units, made.plan, profileOf, options(),
                               written && written->hasQuantizedTypes
                                   ? QuantizedRounding::AfterZeroPoint
                                   : QuantizedRounding::BeforeZeroPoint);
  for (auto [number, unit] : llvm::enumerate(made.units.units)) {
    if (unit.result && canBeObserved(unit.result))
      made.results.push_back({unit.result, static_cast<int64_t>(number)});
    for (Operation *op : unit.ops)
      made.unitOfKernel.try_emplace(originOf(op->getLoc()),
                                    static_cast<unsigned>(number));
    if (const TensorProfile *given = profileOf(unit.result))
      for (const char *what : {"_QuantizeLinear", "_DequantizeLinear"})
        made.unitOfKernel.try_emplace(given->name + what,
                                      static_cast<unsigned>(number));
  }
  return made;
}

Result<void> Quantizer::write(const Model &made) {
  if (Result<void> done = writeModel(made, request.output); !done)
    return ofInput(done.takeError(), request.input.path);
  report.after.bytes = bytesWritten(request.output, *written);
  return {};
}

/// The size of a model's file or, for a folder, of its files with the weights.
static Result<std::string>
hashOfModel(const std::string &path,
            const std::vector<std::string> &dataFiles) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto hashOfFile = [](const std::string &each) -> Result<std::string> {
    auto file = MappedFile::open(each);
    if (!file)
      return file.takeError();
    return hashOf((*file)->bytes()).text();
  };
  if (!fs::is_directory(path, ignored))
    return hashOfFile(path);
  std::string all;
  for (const std::string &each : dataFiles) {
    Result<std::string> hash =
        hashOfFile((fs::path(path).parent_path() / each).string());
    if (!hash)
      return hash.takeError();
    all += *hash;
  }
  return hashOf(std::as_bytes(std::span(all))).text();
}

/// What is possible if samples cannot run.
static Error withoutSamples(Error why, const ModelDescription &description) {
  if (why.kind != ErrorKind::Unsupported)
    return why;
  if (llvm::any_of(description.inputs, [](const ModelInput &input) {
        return llvm::is_contained(input.spec.shape, -1);
      }))
    why = withHint(
        "with `" + optionText("shape") +
            "` the model is specialised to these sizes, which may help",
        std::move(why));
  return withHint("with `" + optionText("activations") +
                      " float` only weights become integers, "
                      "and nothing has to run",
                  std::move(why));
}

/// The profile, measured or given.
Result<void> Quantizer::knowProfile() {
  if (!request.profile.empty())
    return takeProfile();
  if (std::string why = whyItDoesNotRun(model); !why.empty())
    return withoutSamples(inFile(unsupported(why), request.input.path),
                          description);
  Result<void> done = profileModel();
  if (!done)
    return withoutSamples(done.takeError(), description);
  return {};
}

Result<QuantizeReport> Quantizer::run() {
  if (Result<void> done = read(); !done)
    return done.takeError();
  choosePoints();
  Result<std::string> hash =
      hashOfModel(request.input.path, description.dataFiles);
  if (!hash)
    return hash.takeError();
  profile.model = *hash;
  // For weight-only quantisation, biases are corrected if there are samples.
  const bool hasData = request.samples.count != 0 || !request.profile.empty();
  const bool isProfiled =
      !options().weightsOnly || (options().correctBias && hasData);
  if (isProfiled)
    if (Result<void> done = knowProfile(); !done)
      return done.takeError();
  report.data = request.data;
  report.samples = profile.samples;
  report.isJudgedOnOthers = setsAside();
  if (Result<void> done = leaveSlowLayers(); !done)
    return done.takeError();
  if (isProfiled && request.profile.empty())
    if (Result<void> done = measureErrors(); !done)
      return done.takeError();
  if (request.wantsProfile)
    report.profile = quantize::toJson(profile);
  if (request.onlyMeasures)
    return std::move(report);
  Result<QuantizedModel> made = withinBound();
  if (!made)
    return made.takeError();
  describeLayers(*made);
  if (request.samples.count != 0)
    for (auto judge : {&Quantizer::judgeLayers, &Quantizer::judgeSizes})
      if (Result<void> done = (this->*judge)(*made); !done)
        return done.takeError();
  Result<Model> typed = raised(*made);
  if (!typed)
    return typed.takeError();
  if (!request.output.empty() && report.boundHolds) {
    if (!written->hasQuantizedTypes)
      if (Result<void> done = raiseQuantizeOperators(made->model); !done)
        return done.takeError();
    const Model &result = written->hasQuantizedTypes ? *typed : made->model;
    if (written->hasMetadata)
      setMetadata(result.module(), "sinter.quantization", note());
    if (Result<void> done = write(result); !done)
      return done.takeError();
  }
  return std::move(report);
}

Result<QuantizeReport> MlirCompiler::quantize(const QuantizeRequest &request) {
  return Quantizer(request).run();
}

} // namespace sinter
