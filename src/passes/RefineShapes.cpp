#include "passes/RefineShapes.h"

#include "graph/chlo/DecomposeChlo.h"
#include "graph/chlo/DynamicCalls.h"
#include "passes/FoldConstants.h"
#include "passes/Pass.h"
#include "passes/RuleTables.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral label = "refine-types";

ArrayRef<PatternInfo> refineShapesPatterns() {
  static const PatternInfo infos[] = {
      {label, "abs(x : 2x3) : ?x3 -> abs(x : 2x3) : 2x3", "refine-shapes"}};
  return infos;
}

static uint64_t applicationsIn(const PatternRun &run) {
  uint64_t sum = 0;
  for (const auto &[label, count] : run.counts())
    sum += count;
  return sum;
}

LogicalResult refineShapes(ModuleOp module, Loops loops, PatternRun &run) {
  // Each iteration makes some type or value static; a graph has finitely many.
  for (bool changed = true; changed && run.mayStep();) {
    FailureOr<bool> refined = refineTypes(module, loops);
    if (failed(refined))
      return failure();
    changed = *refined;
    if (changed) {
      run.count(label);
      run.graphIsWhole(label);
    }
    const uint64_t before = applicationsIn(run);
    if (failed(applyRules(module, {shapeRules().rules}, run)))
      return failure();
    {
      const llvm::SaveAndRestore keepsBytes(run.keepsBytes, true);
      foldConstants(module, defaultConstantByteLimit, run);
    }
    changed |= applicationsIn(run) > before;
    changed |= raiseDynamicCalls(module);
    changed |= decomposeChlo(module);
  }
  return success();
}

namespace {
struct RefineShapes : LabelledPass<RefineShapes> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefineShapes)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return "refine-shapes"; }
  StringRef getDescription() const final {
    return "Infer the shapes that follow from known ones";
  }
  void runOnOperation() final {
    if (patternRun().isEnabled(label) && isDynamic() &&
        failed(
            refineShapes(getOperation(), Loops::MayChangeShapes, patternRun())))
      signalPassFailure();
  }

private:
  /// Whether some type has a dynamic dimension.
  bool isDynamic() { return hasResultOfUnknownSize(getOperation()); }
};
} // namespace

std::unique_ptr<Pass> createRefineShapes(std::shared_ptr<PatternRun> run) {
  return std::make_unique<RefineShapes>(std::move(run));
}

} // namespace sinter
