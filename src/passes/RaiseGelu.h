//===- RaiseGelu.h - raises a decomposed gelu -----------------------------===//
//
//   (x * 0.5) * (1 + tanh((x + x^3 * 0.044715) * sqrt(2 / pi)))
//   x * (0.5 * (1 + tanh(...)))                                  ->  nn.gelu(x)
//
// since (1 + tanh(y)) / 2 is logistic(2 * y), which costs less and keeps the
// precision that 1 + tanh(y) loses where tanh is near -1.
//
//   x * (1 + erf(c * x)) : f16, bf16     ->  convert<f16>(the same in f32)
//   (x * 0.5) * (1 + erf(x / c))
//
// which is rounded once instead of six times, as nn.gelu is, where `contract`
// is allowed; it stays decomposed, since a factor of it may have been folded
// into weights.
//
// Restrictions:
//   - f16 and bf16 with `contract` only: the decomposed form is rounded on the
//   way.
//   - x^3 is x * x * x or a power; constants are those numbers as the type
//     rounds them.
//   - 1 + tanh, tanh, and the values between x and 1 + erf have no other users.
//
// No rule is needed for forms that are as fast decomposed: x * logistic(x),
// log(1 + exp(x)), x * clamp(x + 3, 0, 6) / 6; of f32 and f64 x * (1 + erf).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISEGELU_H
#define SINTER_PASSES_RAISEGELU_H

#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseGeluRules();

} // namespace sinter

#endif // SINTER_PASSES_RAISEGELU_H
