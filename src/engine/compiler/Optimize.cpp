//===- Optimize.cpp - simplify a model and write it back ------------------===//

#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/Simplification.h"

#include "graph/Quantization.h"
#include "graph/Source.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Freeze.h"
#include "passes/MoveRescales.h"
#include "llvm/ADT/StringRef.h"
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
  options.printIrAfter = passes.printIrAfter;
  return options;
}

/// An error that is not about the options names the model.
static Result<SimplifyReport> ofModel(const Model &model,
                                      Result<SimplifyReport> report) {
  if (report)
    return report;
  Error error = report.takeError();
  if (error.kind != ErrorKind::Usage)
    error.message = model.path + ": " + error.message;
  return error;
}

void tellVerified(const PassOptions &passes, const char *stage,
                  const NumericsFacts &facts) {
  if (!passes.note || !(passes.verifyNumerics || passes.verifyEach))
    return;
  passes.note(
      llvm::formatv(
          "--verify-numerics: {0}: all agree: {1} comparisons of "
          "graphs, {2} of tensors; largest difference {3:e2} of a "
          "tensor's largest magnitude{4}{5}{6}",
          stage, facts.comparisons, facts.tensors, facts.largestDifference,
          facts.where.empty() ? "" : ": ", facts.where,
          facts.rounded == 0 ? std::string()
                             : "; " + std::to_string(facts.rounded) +
                                   " more differ by what f32 had lost before")
          .str());
  if (!facts.endedBy.empty())
    passes.note("--verify-numerics: " + std::string(stage) +
                ": nothing was compared from here on: " + facts.endedBy);
}

static Result<SimplifyReport> toldOf(const PassOptions &passes,
                                     const char *stage,
                                     Result<SimplifyReport> report) {
  if (report)
    tellVerified(passes, stage, report->verified);
  return report;
}

/// What products take in bytes stays so on the way to kernels.
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

/// Whether \p report is of a pass that found something.
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
    passes.note("--verify-numerics does not look at raise-quantized, by which "
                "results may change by one step of a scale");
  return report;
}

/// Whether something is quantised, or weights are. What only scales integers, a
/// picture's say, is no quantised model.
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

/// Whether the model is to be raised: also where rescales may move and the file
/// spells one out, as a DequantizeLinear and a QuantizeLinear of another scale.
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

Result<OptimizeReport> MlirCompiler::optimize(const OptimizeRequest &request) {
  const Format *written = nullptr;
  if (!request.output.empty()) {
    Result<WrittenForm> form = writtenForm(request.output);
    if (!form)
      return form.takeError();
    written = form->format;
  }
  Result<ModelToRewrite> read =
      readToRewrite(request.input, /*to=*/nullptr, request.freeze);
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
  Model &model = read->model;
  if (request.freeze)
    if (Result<void> frozen = freeze(model); !frozen)
      return inFile(frozen.takeError(), request.input.path);
  SimplifyReport raised;
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
  // What came in integers stays so.
  options.keepsQuantizedConstants = *raises || hasQuantizedTypes(model);
  options.changesOutputs = request.changeOutputs;
  Result<SimplifyReport> simplified =
      toldOf(request.passes, "simplification",
             ofModel(model, simplify(model, options)));
  if (!simplified)
    return simplified.takeError();
  if (*raises) {
    simplified->operationsBefore = std::move(raised.operationsBefore);
    for (const auto &[label, count] : raised.patterns)
      simplified->patterns[label] += count;
  }
  if (!request.output.empty())
    if (Result<void> done = writeModel(model, request.output); !done)
      return ofInput(done.takeError(), request.input.path);
  const auto counts = [](const std::map<std::string, uint64_t> &map) {
    return Counts(map.begin(), map.end());
  };
  return OptimizeReport{counts(simplified->operationsBefore),
                        counts(simplified->operationsAfter),
                        counts(simplified->patterns),
                        static_cast<int64_t>(simplified->rescalesBefore),
                        static_cast<int64_t>(simplified->rescalesAfter),
                        sourceNotes(model.module())};
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
