//===- Replicas.h - a step that several processes take together -----------===//
//
// Each process has its part of a batch, and all have the same weights. What is
// a sum or a mean over the batch is one over the processes (all_reduce), so
// that they go on with the same weights, and with those that one process would
// have that has the whole batch.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_REPLICAS_H
#define SINTER_AUTODIFF_REPLICAS_H

#include "autodiff/Options.h"
#include "graph/nn/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace sinter::autodiff {

/// The sums of \p values over replicas 0 to \p replicas - 1, element by
/// element. Values of one type go together, up to a number of bytes (a bucket),
/// since each exchange has a cost of its own (Li et al. 2020, "PyTorch
/// Distributed", section 3.2).
llvm::SmallVector<mlir::Value> sumOverReplicas(nn::TensorBuilder &emit,
                                               mlir::ValueRange values,
                                               uint32_t replicas);

/// Lets the batch statistics of \p function's norms be those of all processes'
/// samples, or where they are \p local keeps them apart: then the running
/// statistics move by the mean of the processes' own, weighed by their
/// elements.
/// \p moved is what trainBatchNorms() gave, and names the new values then.
void shareStatistics(mlir::func::FuncOp function, uint32_t replicas, bool local,
                     llvm::MapVector<mlir::Value, mlir::Value> &moved);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_REPLICAS_H
