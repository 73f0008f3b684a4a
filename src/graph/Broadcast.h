//===- Broadcast.h - what repeats a value, whichever operation says so ----===//
//
// Sizes that are known make a stablehlo.broadcast_in_dim; those that are not,
// a dynamic_broadcast_in_dim to computed sizes or an nn.broadcast_like beside
// the tensor whose shape it takes. Passes ask for the one thing they all are.
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

/// Dimension i of the operand lies along dimension `dimensions[i]` of the
/// result, and is repeated where it is 1 and the result's is not.
struct Broadcast {
  mlir::Operation *op;
  mlir::Value operand;
  llvm::SmallVector<int64_t> dimensions;

  /// The broadcast that gives \p value; nothing if it comes from anything else.
  static std::optional<Broadcast> of(mlir::Value value);

  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  }
  /// The same broadcast of \p value, which has the operand's shape.
  mlir::Value rebuild(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Value value) const;
};

/// \p operand, of a static shape, repeated in \p type, which is of the shape of
/// \p like. \p dimensions ascend.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location location,
                        mlir::RankedTensorType type, mlir::Value operand,
                        llvm::ArrayRef<int64_t> dimensions, mlir::Value like);

/// \p number everywhere in \p type, which is of the shape of \p like: a
/// constant where the shape is static.
mlir::Value splatLike(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::RankedTensorType type, double number,
                      mlir::Value like);

/// Where sizes are to be had: dimensions of values.
using SizeSources = llvm::SmallVector<std::pair<mlir::Value, int64_t>>;

/// \p scalar everywhere in \p type; sizes that are unknown there are those that
/// \p sizes names, one for each dimension. Null where they are needed and not
/// given.
mlir::Value broadcastScalar(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::RankedTensorType type, mlir::Value scalar,
                            const SizeSources &sizes);

/// \p scalars, each repeated in a result of \p op; nothing where one cannot be.
llvm::SmallVector<mlir::Value> repeatedInResults(mlir::Operation *op,
                                                 mlir::ValueRange scalars,
                                                 const SizeSources &sizes,
                                                 mlir::OpBuilder &builder);

} // namespace sinter

#endif // SINTER_GRAPH_BROADCAST_H
