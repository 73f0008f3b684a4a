//===- CarryBiases.h - a product and its bias are rounded once ------------===//
//
//   p = cpu.convolution(x, w)       : f32     p = cpu.convolution(x, w)
//   r = add(convert<f16>(p), b)     : f16  -> r = convert<f16>(
//                                                add(p, convert<f32>(b)))
//
// A product of narrower floats is summed up in f32, and a bias is one more
// summand. Where a file has one operator for both (ONNX's Conv and Gemm) the
// graph says so; this is for those that are spelt out, with `contract` allowed.
//
// Restrictions:
//   - The bias is a constant, or repeats along some dimension of the result:
//     what is computed for each of its elements (a residual) is added to what
//     was rounded.
//   - The product is cpu.convolution, cpu.narrow_product or dot_general, with
//     or without a factor that is repeated likewise. Nobody else reads it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_CARRYBIASES_H
#define SINTER_BACKEND_CPU_LAYOUT_CARRYBIASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, whose shapes are static.
void carryBiases(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> carryBiasesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_CARRYBIASES_H
