//===- CarryBiases.h - add biases before rounding -------------------------===//
//
//   p = cpu.convolution(x, w)       : f32     p = cpu.convolution(x, w)
//   r = add(convert<f16>(p), b)     : f16  -> r = convert<f16>(
//                                                add(p, convert<f32>(b)))
//
// Products of narrower floats have f32 accumulators, and a bias is one more
// term. Operators that include the bias (ONNX's Conv and Gemm) are imported
// that way; this pass handles separate additions, where `contract` is allowed.
//
// Restrictions:
//   - The bias is a constant, or broadcast along some dimension of the result:
//     an operand of the full shape (a residual) is added after rounding.
//   - The product is cpu.convolution, cpu.low_bit_product or dot_general, with
//     or without a factor that is broadcast likewise, and has no other use.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PRECISION_CARRYBIASES_H
#define SINTER_BACKEND_CPU_PRECISION_CARRYBIASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, whose shapes are static.
void carryBiases(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> carryBiasesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PRECISION_CARRYBIASES_H
