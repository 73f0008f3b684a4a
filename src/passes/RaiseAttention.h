//===- RaiseAttention.h - raises decomposed attention ---------------------===//
//
//   dot_general(softmax(dot_general(q, k) * s + m), v)  ->  attention(q, k, v,
//   m)
//
// with any dimension numbers, operand order and positions of dimensions of size
// 1; transposes bring the operands into the operation's form. The scale may be
// applied to the query, the key or the scores, as factors or divisors. A mask
// is added, or selected: a constant replaces the scores where a condition
// fails. A mask of just the later keys, by -1e30 or less, makes the operation
// causal. Where scores or weights are floats narrower than f32, or converted to
// such, they are no longer rounded: the operation rounds its result only. For a
// backend's own pipeline, like RaiseIdioms.
//
// Restrictions:
//   - Elements are f32 or floats narrower than that.
//   - Where shapes are dynamic, each tensor has all dimensions of the
//     operation: none of size 1 is added.
//   - The scores, the weights and the values between have the next step of the
//     idiom as their only user, so that nothing needs them in memory.
//   - One dimension each indexes the keys, the elements of a key and those of a
//     value. Both matmuls batch over all others, except those that only the
//     query has: the longest of these indexes the queries.
//   - The softmax is over the keys, of which there are two at least.
//   - The scale is a scalar, and is applied before the mask.
//   - There is one mask at most; it is not broadcast along the keys.
//   - Where the operation becomes causal, the scores are assumed to be above
//     -1e30, and masked values and (where the mask is added) masked scores to
//     be finite. Otherwise NaN rows may become finite.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISEATTENTION_H
#define SINTER_PASSES_RAISEATTENTION_H

#include "mlir/Pass/Pass.h"
#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseAttentionRules();
std::unique_ptr<mlir::Pass>
createRaiseAttention(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_RAISEATTENTION_H
