//===- BFloat16Products.h - bf16 multiplied as it is ----------------------===//
//
//   cpu.low_bit_product(convert<f32>(v : bf16), w : bf16)
//     ->  cpu.low_bit_product(v, w)
//
//   cpu.convolution(convert<f32>(v : bf16), w)
//     ->  cpu.convolution(v, convert<bf16>(w))
//
// With Precision::BFloat16 factors of f32 are rounded:
//
//   dot_general(x : f32, w : f32)
//     ->  cpu.low_bit_product(convert<bf16>(x), convert<bf16>(w))
//
// Some machines multiply two numbers of bf16 and add both products to a sum of
// f32 in the time of one multiply-add (vdpbf16ps of Zen 4). It
// rounds as two multiply-adds do. Activations lie in memory in 16 bits then,
// also those that a convolution reads channel by channel or by Winograd's
// method, which widen each pixel once.
//
// Restrictions:
//   - Targets without matrix units, of which cost/Estimates says that dot
//     products of bf16 are faster than multiply-adds (alternativesForBFloat16).
//   - The activation was converted from bf16, and perhaps moved since; what
//     fills it up is zero. Weights are constants of which bf16 holds each
//     number, without scales or zero points. Both but where they may be
//     rounded.
//   - Weights of fewer bits have 32 rows or more to multiply.
//   - What may be rounded is not convolved by Winograd's method, which
//     multiplies f32.
//   - A convolution's channels come in pairs, and its input in blocks: what
//     fills the last block may be anything, and a NaN times 0 is none.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_BFLOAT16PRODUCTS_H
#define SINTER_BACKEND_CPU_LAYOUT_BFLOAT16PRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Rewrites all of \p function, whose sizes are known or named.
void formBFloat16Products(mlir::func::FuncOp function,
                          const PassSetting &setting, PatternRun &run);

llvm::ArrayRef<PatternInfo> bfloat16ProductsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_BFLOAT16PRODUCTS_H
