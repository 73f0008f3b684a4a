//===- TrainBatchNorms.h - batch norms with the batch's statistics --------===//
//
//   batch_norm_inference(x, scale, offset, mean, variance)    ->
//
//   m, v, mean', variance' = mean_var_norm(x, mean, variance)
//   batch_norm_inference(x, scale, offset, m, v)
//
// mean' and variance' are the new running statistics. The variance used to
// normalise is biased, the running one is unbiased, as in the frameworks that
// export such models.
//
// Where the file already computes the batch's statistics (mean_var_norm), its
// running statistics are updated by its own rule.
//
// Restrictions: mean and variance are arguments of the function; any other norm
// does not change.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_TRAINBATCHNORMS_H
#define SINTER_AUTODIFF_TRAINBATCHNORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace sinter::autodiff {

/// The new value of each running statistic, an argument of \p function, after a
/// step with \p momentum or, without it, each norm's own (graph/Momentum.h).
llvm::MapVector<mlir::Value, mlir::Value>
trainBatchNorms(mlir::func::FuncOp function, std::optional<double> momentum);

/// The arguments of \p function that are running statistics of batch norms.
llvm::SetVector<mlir::Value> runningStatistics(mlir::func::FuncOp function);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAINBATCHNORMS_H
