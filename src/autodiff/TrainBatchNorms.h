//===- TrainBatchNorms.h - batch norms with the batch's statistics --------===//
//
//   batch_norm_inference(x, scale, offset, mean, variance)    ->
//
//   m, v, mean', variance' = mean_var_norm(x, mean, variance)
//   batch_norm_inference(x, scale, offset, m, v)
//
// mean' and variance' are what the running statistics become. The variance that
// normalises is the biased one, the one that is kept is unbiased, as in the
// frameworks that write such models.
//
// Where the file computes the batch's statistics already (mean_var_norm), its
// running statistics move by its own rule.
//
// Restrictions: mean and variance are arguments of the function; any other norm
// stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_TRAINBATCHNORMS_H
#define SINTER_AUTODIFF_TRAINBATCHNORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace sinter::autodiff {

/// What each running statistic, an argument of \p function, becomes in a step
/// that keeps the share \p momentum of it, or what each norm says
/// (graph/Momentum.h).
llvm::MapVector<mlir::Value, mlir::Value>
trainBatchNorms(mlir::func::FuncOp function, std::optional<double> momentum);

/// The arguments of \p function that are running statistics of batch norms.
llvm::SetVector<mlir::Value> runningStatistics(mlir::func::FuncOp function);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAINBATCHNORMS_H
