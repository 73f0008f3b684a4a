//===- RaiseNorms.h - raises decomposed layer norms -----------------------===//
//
//   m = sum(x) / n, c = x - m, v = sum(c * c) / n
//   c * rsqrt(v + epsilon)               ->  nn.layer_norm(x, 1)
//   x * rsqrt(sum(x * x) / n + epsilon)  ->  nn.rms_norm(x, 1)
//   layer_norm(x, 1) * scale             ->  nn.layer_norm(x, scale)
//   layer_norm(x, scale) + bias          ->  nn.layer_norm(x, scale, bias)
//   reshape(group_norm(reshape(x)))      ->  nn.group_norm(x): rows are groups
//
// With `reassociate`, `contract` and `reciprocal` allowed also
//
//   v = sum(x * x) / n - m * m, or the maximum of that and 0
//   c / sqrt(v + epsilon)
//   c * (rsqrt(v + epsilon) * scale)
//   sum(x) * (1 / n) where n is not a power of two
//
// and in f16 and bf16 with `contract`: their rounding exceeds the effect of the
// order, and the norm is computed in f32 and rounded once, as in `nn`.
//
// Restrictions:
//   - Shapes are static; the sums are over the last dimensions; n is their
//   size.
//   - One type throughout: f32, f64, f16 or bf16, the latter two with
//     accumulators in f32. Conversions around a norm of f32 stay around it.
//   - Values inside have no other users.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISENORMS_H
#define SINTER_PASSES_RAISENORMS_H

#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseNormsRules();

} // namespace sinter

#endif // SINTER_PASSES_RAISENORMS_H
