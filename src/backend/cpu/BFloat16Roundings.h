//===- BFloat16Roundings.h - roundings of what numbers of bf16 make -------===//
//
//     sum = convolution(convert<f32>(x : bf16), w)
//     convert<bf16>(sum) -> convert<bf16>(sum) {cpu.of_bf16}
//
// Machines without an instruction for it round to bf16 by arithmetic on bits,
// which a NaN may only pass unasked if it has none in the lower half: see
// codegen/ExpandBFloat16.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_BFLOAT16ROUNDINGS_H
#define SINTER_BACKEND_CPU_BFLOAT16ROUNDINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// On a stablehlo.convert from f32 to bf16: what it rounds is what arithmetic
/// makes of numbers of bf16, integers and constants that are no NaN.
inline constexpr llvm::StringLiteral ofBFloat16Attribute = "cpu.of_bf16";

/// Lets roundings in \p function say so.
void sayWhatIsRounded(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_BFLOAT16ROUNDINGS_H
