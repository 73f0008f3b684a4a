//===- Differentiable.h - gradients of operations and of graphs -----------===//

#ifndef SINTER_GRAPH_INTERFACES_DIFFERENTIABLE_H
#define SINTER_GRAPH_INTERFACES_DIFFERENTIABLE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "graph/interfaces/Differentiable.h.inc"

namespace sinter {

/// Attaches DifferentiableOpInterface to the operations that have a gradient,
/// in \p context, whose dialects are loaded.
void attachGradients(mlir::MLIRContext *context);

/// The gradients of a scalar by \p inputs, given \p seeds, its gradients by
/// \p outputs. Built at \p builder's insertion point, after all of them in one
/// block. The gradient is null for an input that the scalar does not depend on.
/// Operations without a gradient of their own are differentiated through their
/// decomposition. Fails with an error at an operation that has neither; tuples
/// and futures have none (openTuples, inlineFutures).
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
backpropagate(mlir::OpBuilder &builder, mlir::ValueRange outputs,
              mlir::ValueRange seeds, mlir::ValueRange inputs);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_DIFFERENTIABLE_H
