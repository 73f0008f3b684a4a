//===- BFloat16Roundings.h - mark bf16 roundings without NaN checks -------===//
//
//     sum = convolution(convert<f32>(x : bf16), w)
//     convert<bf16>(sum) -> convert<bf16>(sum) {cpu.of_bf16}
//
// CPUs without an instruction for it round to bf16 by integer arithmetic. That
// needs a NaN check unless NaNs have no bits set in the lower half: see
// codegen/ExpandBFloat16.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PRECISION_BFLOAT16ROUNDINGS_H
#define SINTER_BACKEND_CPU_PRECISION_BFLOAT16ROUNDINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// On a stablehlo.convert from f32 to bf16: its operand is computed by
/// arithmetic from bf16 values, integers and constants without NaN.
inline constexpr llvm::StringLiteral ofBFloat16Attribute = "cpu.of_bf16";

/// Sets that attribute on roundings in \p function.
void markRoundings(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PRECISION_BFLOAT16ROUNDINGS_H
