//===- Broadcast.h - broadcasts, whichever operation does them ------------===//
//
// Static shapes have a stablehlo.broadcast_in_dim; dynamic ones, a
// dynamic_broadcast_in_dim to computed sizes or an nn.broadcast_like, which
// takes the shape of another tensor. Passes use one interface for all three.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_BROADCAST_H
#define SINTER_GRAPH_BROADCAST_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// Dimension i of the operand is dimension `dimensions[i]` of the result, and
/// is repeated where its size is 1 and the result's is not.
struct Broadcast {
  mlir::Operation *op;
  mlir::Value operand;
  llvm::SmallVector<int64_t> dimensions;

  /// The broadcast that defines \p value; nothing for any other value.
  static std::optional<Broadcast> of(mlir::Value value);

  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  }
  /// The same broadcast of \p value, which has the operand's shape.
  mlir::Value rebuild(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Value value) const;
};

/// \p operand, of static shape, broadcast to \p type, which has the shape of
/// \p like. \p dimensions ascend.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location location,
                        mlir::RankedTensorType type, mlir::Value operand,
                        llvm::ArrayRef<int64_t> dimensions, mlir::Value like);

/// A splat of \p number of type \p type, which has the shape of \p like: a
/// constant where the shape is static.
mlir::Value splatLike(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::RankedTensorType type, double number,
                      mlir::Value like);

/// Where sizes come from: dimensions of values.
using SizeSources = llvm::SmallVector<std::pair<mlir::Value, int64_t>>;

/// \p scalar broadcast to \p type. \p sizes gives the dynamic sizes, one for
/// each dimension. Null where one is needed and not given.
mlir::Value broadcastScalar(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::RankedTensorType type, mlir::Value scalar,
                            const SizeSources &sizes);

/// \p scalars, each broadcast to the type of a result of \p op; nothing where
/// one cannot be.
llvm::SmallVector<mlir::Value> repeatedInResults(mlir::Operation *op,
                                                 mlir::ValueRange scalars,
                                                 const SizeSources &sizes,
                                                 mlir::OpBuilder &builder);

} // namespace sinter

#endif // SINTER_GRAPH_BROADCAST_H
