//===- RaiseNorms.h - layer norms that are spelt out become one operation -===//
//
//   m = sum(x) / n, c = x - m, v = sum(c * c) / n
//   c * rsqrt(v + epsilon)               ->  nn.layer_norm(x, 1)
//   x * rsqrt(sum(x * x) / n + epsilon)  ->  nn.rms_norm(x, 1)
//   layer_norm(x, 1) * scale             ->  nn.layer_norm(x, scale)
//   layer_norm(x, scale) + bias          ->  nn.layer_norm(x, scale, bias)
//
// With `reassociate`, `contract` and `reciprocal` allowed also
//
//   v = sum(x * x) / n - m * m, or the greater of that and 0
//   c / sqrt(v + epsilon)
//   c * (rsqrt(v + epsilon) * scale)
//   sum(x) * (1 / n) where n is not a power of two
//
// Restrictions:
//   - Shapes are static; the sums are over the last dimensions; n is their
//   size.
//   - f32 or f64 all the way: narrower types would be rounded on the way.
//     Conversions of what is narrower stay around the norm.
//   - Nobody else reads what lies inside.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISENORMS_H
#define SINTER_PASSES_RAISENORMS_H

#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseNormsRules();

} // namespace sinter

#endif // SINTER_PASSES_RAISENORMS_H
