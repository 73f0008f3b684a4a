//===- Pipelines.h - the passes in the order that pays --------------------===//

#ifndef SINTER_PASSES_PIPELINES_H
#define SINTER_PASSES_PIPELINES_H

#include "graph/Model.h"
#include "passes/FoldConstants.h"
#include "passes/PatternLabels.h"
#include "passes/Specialize.h"
#include "passes/VerifyNumerics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace sinter {

struct SimplifyOptions {
  /// Labels; see PatternRun::create.
  std::vector<std::string> disabledPatterns, enabledPatterns;
  /// Names of Allowance.
  std::vector<std::string> allowed;
  /// The largest constant, in bytes, that is made of smaller ones.
  int64_t constantByteLimit = defaultConstantByteLimit;
  /// Run the oracle before and after every pass on the same random inputs and
  /// fail with WrongResult where an output or a tensor on the way parts from
  /// what it was (VerifyNumerics.h). Unknown dimensions are taken as
  /// `verifyDimension`.
  bool verifyNumerics = false;
  /// Likewise after each single application of a pattern.
  bool verifyEach = false;
  int64_t verifyDimension = 2;
  /// A value passes where |after - before| <= verifyTolerance * the largest
  /// magnitude of the tensor before.
  double verifyTolerance = 1e-4;
  /// Whether dequantised constants stay quantised, as after raiseQuantized.
  bool keepsQuantizedConstants = false;
  /// Whether outputs may have other quantised types than they had, so that
  /// nothing is rescaled in front of them.
  bool changesOutputs = false;
  /// Rewriting ends after so many steps (PatternRun::mostSteps).
  uint64_t mostSteps = std::numeric_limits<uint64_t>::max();
  /// Told where values go, if numerics are not verified.
  ReplacementWatcher *watcher = nullptr;
  /// Whether passes may go on where the oracle cannot run what one made, and
  /// NumericsFacts::endedBy says so; an error if not.
  bool verifiesWhatRuns = false;
  /// Print the module to \p irStream (standard error if null) after the passes
  /// of these names ("all": after each).
  std::vector<std::string> printIrAfter;
  llvm::raw_ostream *irStream = nullptr;
};

struct SimplifyReport {
  /// How often each pattern applied.
  std::map<std::string, uint64_t> patterns;
  /// How many operations of each name (constants not counted) the entry
  /// function and what it calls had, and have.
  std::map<std::string, uint64_t> operationsBefore, operationsAfter;
  /// Bytes of constants that something reads.
  int64_t constantBytesBefore = 0, constantBytesAfter = 0;
  /// Rescales of quantised tensors (MoveRescales.h).
  uint64_t rescalesBefore = 0, rescalesAfter = 0;
  /// Milliseconds by pass, in the order they ran.
  std::vector<std::pair<std::string, double>> passTimes;
  /// Steps done at the end of each pass, and the last where `mostSteps` of
  /// them were done.
  std::vector<std::pair<std::string, uint64_t>> passSteps;
  PatternApplication lastStep;
  /// What verifyNumerics found the same.
  NumericsFacts verified;
};

using Passes = std::vector<std::unique_ptr<mlir::Pass>>;

/// Runs the passes that \p pipeline makes for one run, in order, on \p module
/// itself, and adds to \p report what they did. Errors: as of simplify, and
/// what a pass says by PatternRun::fail.
Result<void> runPasses(
    mlir::ModuleOp module, const SimplifyOptions &options,
    llvm::function_ref<Passes(const std::shared_ptr<PatternRun> &)> pipeline,
    SimplifyReport &report);

/// Lets users name passes that are not of this folder, a backend's
/// (--print-ir-after).
void registerPassNames(llvm::ArrayRef<llvm::StringRef> names);

/// Simplifies: on success \p model holds a new, simplified graph; what shared
/// its graph's context or weights (the model that it was cloned from) stays as
/// it was. On failure \p model stays, too. Errors: Usage for an unknown label
/// or pass name, WrongResult from verifyNumerics, InvalidModel where a pass
/// finds the graph broken.
Result<SimplifyReport> simplify(Model &model,
                                const SimplifyOptions &options = {});

/// Makes quantised types of quantisation that is spelt out (RaiseQuantized.h),
/// to be called before `simplify`. Model and errors as above; results may
/// change by one step of a scale, so that verifyNumerics need not agree.
Result<SimplifyReport> raiseQuantized(Model &model,
                                      const SimplifyOptions &options = {});

/// What a backend with kernels wants of a simplified graph with static shapes:
/// channels first, and idioms as one `nn` operation. Not for graphs that are
/// written again. Model and errors as above.
Result<SimplifyReport> raiseForKernels(Model &model,
                                       const SimplifyOptions &options = {});

/// The passes by their command-line names, and the pipeline `simplify`.
void registerSimplificationPasses();

} // namespace sinter

#endif // SINTER_PASSES_PIPELINES_H
