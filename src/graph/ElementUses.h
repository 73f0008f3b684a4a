//===- ElementUses.h - uses of a value's elements and of its shape --------===//
//
// Where shapes are dynamic, some operations use a tensor for its shape alone:
// nn.broadcast_like, nn.shape, get_dimension_size. These do not count as uses
// of its elements: a matmul whose bias is broadcast to its shape still has one
// use.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_ELEMENTUSES_H
#define SINTER_GRAPH_ELEMENTUSES_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Whether \p use needs only the operand's shape, not its elements.
bool usesShapeOnly(mlir::OpOperand &use);

/// The only use of the elements of \p value; null if there is none or are
/// several.
mlir::OpOperand *soleElementUse(mlir::Value value);

/// Whether the elements of \p value have exactly one use.
inline bool hasOneElementUse(mlir::Value value) {
  return soleElementUse(value) != nullptr;
}

/// Whether the elements of \p value have no use.
bool hasNoElementUse(mlir::Value value);

/// An operand of \p op that has the shape of its only result, whatever the
/// sizes are; null if there is none.
mlir::Value operandOfSameShape(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_ELEMENTUSES_H
