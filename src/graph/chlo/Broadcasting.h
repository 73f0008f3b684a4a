//===- Broadcasting.h - operands of different shapes ----------------------===//

#ifndef SINTER_GRAPH_CHLO_BROADCASTING_H
#define SINTER_GRAPH_CHLO_BROADCASTING_H

#include "graph/chlo/ChloOps.h"
#include "graph/chlo/Functions.h"

namespace sinter::chlo {

/// The result type of an op whose two operands broadcast: by NumPy's rule, or
/// by \p dimensions, the result dimensions of the operand of lower rank.
/// \p elementOf gives the result's element type from the operands'.
mlir::LogicalResult
inferBroadcast(std::optional<mlir::Location> location,
               mlir::ValueRange operands, mlir::DenseI64ArrayAttr dimensions,
               llvm::function_ref<mlir::Type(mlir::Type)> elementOf,
               llvm::SmallVectorImpl<mlir::Type> &types);

using Results = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

/// Broadcasts the operands of \p op to one shape, which may be dynamic, and
/// builds the result from them.
Results decomposeBroadcast(
    mlir::Operation *op, mlir::OpBuilder &builder,
    mlir::DenseI64ArrayAttr dimensions,
    llvm::function_ref<mlir::Value(TensorBuilder &, mlir::ValueRange)> build);

/// Builds an elementwise function of the operands, which have one shape.
Results decomposeFunction(mlir::Operation *op, mlir::OpBuilder &builder,
                          mlir::Value (*function)(TensorBuilder &,
                                                  mlir::Value));
Results decomposeFunction(mlir::Operation *op, mlir::OpBuilder &builder,
                          mlir::Value (*function)(TensorBuilder &, mlir::Value,
                                                  mlir::Value));

} // namespace sinter::chlo

#endif // SINTER_GRAPH_CHLO_BROADCASTING_H
