//===- Readers.h - who reads the elements of a value, who its shape -------===//
//
// Where sizes are unknown, some operations read a tensor for its shape alone:
// nn.broadcast_like beside which it stands, nn.shape, get_dimension_size. They
// are no readers of what it holds: a product whose bias is broadcast to its
// shape still has one reader.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_READERS_H
#define SINTER_GRAPH_READERS_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Whether no element of the operand is read, only its shape.
bool readsShapeOnly(mlir::OpOperand &use);

/// The one use that reads the elements of \p value; null if there is none or
/// are several.
mlir::OpOperand *soleReading(mlir::Value value);

/// Whether the elements of \p value are read once.
inline bool hasOneReader(mlir::Value value) {
  return soleReading(value) != nullptr;
}

/// Whether nothing reads the elements of \p value.
bool isUnread(mlir::Value value);

/// An operand of \p op that has the shape of its only result, whatever the
/// sizes are; null if there is none.
mlir::Value operandOfSameShape(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_READERS_H
