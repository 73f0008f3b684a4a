//===- LowerBatchNorms.h - batch norms to multiply-add --------------------===//
//
//   batch_norm_inference(x, scale, offset, mean, variance)
//     ->  x * broadcast(a) + broadcast(b)
//         a = scale / sqrt(variance + epsilon), b = offset - mean * a
//
// There is one a and one b per channel, which are constants where the
// statistics are. Floats narrower than f32 are rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_LOWERBATCHNORMS_H
#define SINTER_BACKEND_CPU_LEGALIZE_LOWERBATCHNORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function: no kernel computes a batch norm.
void lowerBatchNorms(mlir::func::FuncOp function, PatternRun &run);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_LOWERBATCHNORMS_H
