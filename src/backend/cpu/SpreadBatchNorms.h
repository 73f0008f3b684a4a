//===- SpreadBatchNorms.h - batch norms as a product and a sum ------------===//
//
//   batch_norm_inference(x, scale, offset, mean, variance)
//     ->  x * broadcast(a) + broadcast(b),  a = scale / sqrt(variance +
//     epsilon)
//                                           b = offset - mean * a
//
// One a and one b a channel, which are constants where the statistics are.
// Floats narrower than f32 are rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SPREADBATCHNORMS_H
#define SINTER_BACKEND_CPU_SPREADBATCHNORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function: no kernel computes a batch norm.
void spreadBatchNorms(mlir::func::FuncOp function, PatternRun &run);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SPREADBATCHNORMS_H
