//===- MoveAffineJointly.h - batch norms that go with others --------------===//
//
//   x = conv(...)                              x' = conv'(...)
//   concat(batch_norm(x), conv(relu(x)))  ->   concat(x', conv'(clip(x')))
//
// move-affine leaves a batch norm if some operation that it would move to does
// not absorb it. This pass moves it if other values are scaled and shifted with
// it: all that the same product computes, both operands of an addition, or the
// operands of other batch norms, which change then (AffineRegion.h).
// fold-batch-norm folds what products absorb. The scale or the shift may move
// alone: a scale, where padding keeps the shift, or a shift, which becomes a
// bias, where quantised weights have no scale for each of their input's
// channels.
//
// Restrictions:
//   - Those of move-affine, except that a value on the way may have several
//     users, and an addition may be scaled on both sides.
//   - A region has at most 100 values, all in one block.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_MOVEAFFINEJOINTLY_H
#define SINTER_PASSES_MOVEAFFINEJOINTLY_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> moveAffineJointlyPatterns();
std::unique_ptr<mlir::Pass>
createMoveAffineJointly(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_MOVEAFFINEJOINTLY_H
