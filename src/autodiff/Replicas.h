//===- Replicas.h - data-parallel training steps --------------------------===//
//
// Each process has a shard of the batch, and all have the same weights. Sums
// and means over the batch become ones over the processes (all_reduce), so that
// all keep the same weights, which are those of one process with the whole
// batch.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_REPLICAS_H
#define SINTER_AUTODIFF_REPLICAS_H

#include "autodiff/Options.h"
#include "graph/nn/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace sinter::autodiff {

/// The elementwise sums of \p values over replicas 0 to \p replicas - 1. Values
/// of one type are reduced together, up to a number of bytes (a bucket), since
/// each collective has a fixed cost (Li et al. 2020, "PyTorch Distributed",
/// section 3.2).
llvm::SmallVector<mlir::Value> sumOverReplicas(nn::TensorBuilder &emit,
                                               mlir::ValueRange values,
                                               uint32_t replicas);

/// Makes the batch statistics of \p function's norms those of all processes'
/// samples or, where \p local, keeps them separate: then the running statistics
/// move by the mean of the processes' own, weighted by their elements. \p moved
/// is the result of trainBatchNorms(), and is updated to the new values.
void shareStatistics(mlir::func::FuncOp function, uint32_t replicas, bool local,
                     llvm::MapVector<mlir::Value, mlir::Value> &moved);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_REPLICAS_H
