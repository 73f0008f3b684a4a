//===- Pipelines.h - the passes in order ----------------------------------===//

#ifndef SINTER_PASSES_PIPELINES_H
#define SINTER_PASSES_PIPELINES_H

#include "graph/Model.h"
#include "passes/FoldConstants.h"
#include "passes/PatternLabels.h"
#include "passes/Specialize.h"
#include "passes/VerifyNumerics.h"
#include "runtime/Cancellation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

struct SimplifyOptions {
  /// Labels; see PatternRun::create.
  std::vector<std::string> disabledPatterns, enabledPatterns;
  /// Names of Allowance.
  std::vector<std::string> allowed;
  /// The largest constant, in bytes, that is computed from smaller ones.
  int64_t constantByteLimit = defaultConstantByteLimit;
  /// Run the reference interpreter before and after every pass on the same
  /// random inputs and fail with WrongResult where an output or an intermediate
  /// tensor differs (VerifyNumerics.h). `verifySizes` has the sizes of dynamic
  /// dimensions.
  bool verifyNumerics = false;
  /// Likewise after each single application of a pattern.
  bool verifyEach = false;
  VerifyNumerics::Sizes verifySizes;
  /// A value passes where |after - before| <= verifyTolerance * the largest
  /// magnitude of the tensor before.
  double verifyTolerance = 1e-4;
  /// Whether dequantised constants stay quantised, as after raiseQuantized.
  bool keepsQuantizedConstants = false;
  /// Whether the quantised types of outputs may change, so that no rescale is
  /// needed in front of them.
  bool changesOutputs = false;
  /// Rewriting ends after so many steps (PatternRun::mostSteps).
  uint64_t mostSteps = std::numeric_limits<uint64_t>::max();
  /// Called back with what happens to values, if numerics are not verified.
  ReplacementWatcher *watcher = nullptr;
  /// Whether passes go on where the interpreter cannot run the result of one,
  /// recorded in NumericsFacts::endedBy; an error if not.
  bool verifiesWhatRuns = false;
  /// Give \p printIr (standard error if empty) the module as text after the
  /// passes of these names ("all": after each).
  std::vector<std::string> printIrAfter;
  std::function<void(llvm::StringRef text)> printIr;
  /// Ends the pipeline before the next pass with Cancelled; null: nothing does.
  std::shared_ptr<const Cancellation> cancellation;
};

struct SimplifyReport {
  /// How often each pattern applied.
  std::map<std::string, uint64_t> patterns;
  /// How many operations of each name (constants not counted) the entry
  /// function and its callees had, and have.
  std::map<std::string, uint64_t> operationsBefore, operationsAfter;
  /// Bytes of constants with uses.
  int64_t constantBytesBefore = 0, constantBytesAfter = 0;
  /// Rescales of quantised tensors (MoveRescales.h).
  uint64_t rescalesBefore = 0, rescalesAfter = 0;
  /// Milliseconds by pass, in the order they ran.
  std::vector<std::pair<std::string, double>> passTimes;
  /// Steps done at the end of each pass, and the last step where `mostSteps`
  /// was reached.
  std::vector<std::pair<std::string, uint64_t>> passSteps;
  PatternApplication lastStep;
  /// What verifyNumerics compared.
  NumericsFacts verified;
};

using Passes = std::vector<std::unique_ptr<mlir::Pass>>;

/// Runs the passes that \p pipeline makes for one run, in order, on \p module
/// itself, and adds to \p report what they did. Errors: as of simplify, and
/// those that a pass sets with PatternRun::fail.
Result<void> runPasses(
    mlir::ModuleOp module, const SimplifyOptions &options,
    llvm::function_ref<Passes(const std::shared_ptr<PatternRun> &)> pipeline,
    SimplifyReport &report);

/// Registers names of a backend's passes, for --print-ir-after.
void registerPassNames(llvm::ArrayRef<llvm::StringRef> names);

/// Simplifies: on success \p model holds a new, simplified graph; a model that
/// shares its context or weights (the one it was cloned from) does not change.
/// On failure \p model does not change, either. Errors: Usage for an unknown
/// label or pass name, WrongResult from verifyNumerics, InvalidModel where a
/// pass finds the graph broken.
Result<SimplifyReport> simplify(Model &model,
                                const SimplifyOptions &options = {});

/// Raises quantisation arithmetic to quantised types (RaiseQuantized.h). Must
/// be called before `simplify`. Model and errors as above; results may change
/// by one step of a scale, so that verifyNumerics need not agree.
Result<SimplifyReport> raiseQuantized(Model &model,
                                      const SimplifyOptions &options = {});

/// Prepares a simplified graph with static shapes for a backend with kernels:
/// channels first, and idioms as one `nn` operation. Not for graphs that will
/// be exported. Model and errors as above.
Result<SimplifyReport> raiseForKernels(Model &model,
                                       const SimplifyOptions &options = {});

/// Raises idioms and attention of a simplified graph to one `nn` operation
/// each, for a runtime that has operators for them. Model and errors as above.
Result<SimplifyReport> raiseForRuntime(Model &model,
                                       const SimplifyOptions &options = {});

/// Registers the passes by their command-line names, and the pipeline
/// `simplify`.
void registerSimplificationPasses();

} // namespace sinter

#endif // SINTER_PASSES_PIPELINES_H
