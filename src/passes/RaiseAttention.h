//===- RaiseAttention.h - attention that is spelt out, as one operation ---===//
//
//   dot_general(softmax(dot_general(q, k) * s + m), v)  ->  attention(q, k, v,
//   m)
//
// whatever the dimension numbers say, on whichever side each operand stands and
// wherever dimensions of size 1 are; transposes bring the operands into the
// operation's form. The scale may stand at the query, the key or the scores, as
// factors or divisors. A mask is added, or chosen: a number stands for the
// scores where a condition fails. A mask that hides just what comes later, by
// -1e30 or less, makes the operation causal. Where scores or weights are floats
// narrower than f32, or converted to such, they are no longer rounded: the
// operation rounds its result only. For a backend's own pipeline, as
// RaiseIdioms is.
//
// Restrictions:
//   - Elements are f32 or floats narrower than that.
//   - Where sizes are unknown, each tensor has all dimensions of the operation:
//     none of size 1 is made anew.
//   - The scores, the weights and what is between are read by the next step of
//     the idiom alone, so that nothing needs them in memory.
//   - One dimension each numbers the keys, the elements that are compared and
//     those of a value. Both products batch over all others, but those that the
//     query alone has: the longest of these numbers the queries.
//   - The softmax is over the keys, of which there are two at least.
//   - The scale is a number, and stands before the mask.
//   - There is one mask at most; along the keys it is not repeated.
//   - Where the operation becomes causal, the scores are above -1e30, and of
//     what is hidden the values and (where the mask is added) the scores are
//     finite, else rows that are not numbers may become such.
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
