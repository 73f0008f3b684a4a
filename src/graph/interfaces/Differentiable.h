//===- Differentiable.h - gradients of operations and of graphs -----------===//

#ifndef SINTER_GRAPH_INTERFACES_DIFFERENTIABLE_H
#define SINTER_GRAPH_INTERFACES_DIFFERENTIABLE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "graph/interfaces/Differentiable.h.inc"

namespace sinter {

/// Makes the operations that have a gradient implement
/// DifferentiableOpInterface in \p context, whose dialects are loaded.
void attachGradients(mlir::MLIRContext *context);

/// The gradients of a number by \p inputs, given those by \p outputs, which
/// \p seeds are: built where \p builder stands, behind all of them in one
/// block. An input that the number does not depend on has the gradient null.
/// Operations without a gradient of their own are differentiated through their
/// decomposition. Fails with an error at the operation that has neither; tuples
/// and futures have none (openTuples, inlineFutures).
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
backpropagate(mlir::OpBuilder &builder, mlir::ValueRange outputs,
              mlir::ValueRange seeds, mlir::ValueRange inputs);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_DIFFERENTIABLE_H
