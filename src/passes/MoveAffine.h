//===- MoveAffine.h - moves batch norms to products -----------------------===//
//
//   batch_norm(concat(relu(conv(x)), y))  ->
//       concat(relu(batch_norm(conv(x))), batch_norm(y))
//
//   y = batch_norm(x)                         y = x
//   concat(y, conv(y), conv'(y))          ->  concat(batch_norm(y),
//                                                conv(batch_norm(y)), ...)
//
// A batch norm, or any other scale and shift of channels by constants, moves up
// to the producers of its operand, or down to its users, across operations that
// implement AffineFlowOpInterface, as far as products and constants that absorb
// it (ChannelAbsorption.h). fold-batch-norm then folds it. If nothing absorbs
// it, it stays where it has fewer elements.
//
// relu(s * x + t) is s * clip(x) + t, whose bounds are those of x, so a scale
// and a shift in front of a relu go down behind it.
//
// A maximum with a constant and a clamp between constants take scales of any
// sign and shifts in their bounds: s * max(x, 0) + t is max(s * x + t, t) where
// s is not negative.
//
// Where products take the scale but not the shift, since they read zeros from
// outside, s * x + t becomes s * (x + t / s), and the shift stays.
//
// Restrictions:
//   - No more operations scale or shift than before, and fewer elements are
//     scaled or shifted (a dynamic dimension counts as eight).
//   - Up: each value on the way has one user, or several slices that do not
//     overlap. Down: every user lets all of it pass, or keeps its own copy.
//   - Nothing leaves a block, or stays inside of a node that is exported as a
//     whole; such a node's operations that only move elements, add or divide
//     are crossed.
//   - A conversion of floats is crossed to the side that has as many digits.
//   - Constants vary along one dimension. A scalar, as in many idioms, begins
//     no move.
//   - The bias of a product begins none.
//   - Floats narrower than f32 are scaled by 1/256 to 256 and shifted by 16 at
//     most: the values between are rounded in their range.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_MOVEAFFINE_H
#define SINTER_PASSES_MOVEAFFINE_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> moveAffinePatterns();
std::unique_ptr<mlir::Pass>
createMoveAffine(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_MOVEAFFINE_H
