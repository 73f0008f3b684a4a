//===- Literals.h - constants that a file writes into its computation -----===//
//
// Formats that keep their weights in a list of their own may have other
// constants, too, which nodes of the graph give: a factor, a mask, the ones
// that a norm without a scale is given. They have names like weights, but are
// not meant to change.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_LITERALS_H
#define SINTER_GRAPH_LITERALS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sinter {

inline constexpr llvm::StringLiteral literalAttribute = "sinter.literal";

/// Says of the constant \p op that a node of the file gives it.
inline void setLiteral(mlir::Operation *op) {
  op->setAttr(literalAttribute, mlir::UnitAttr::get(op->getContext()));
}

inline bool isLiteral(mlir::Operation *op) {
  return op->hasAttr(literalAttribute);
}

/// Whether \p type is that of a constant that training could take for a weight:
/// floating-point numbers with a dimension. A writer says of such a literal
/// that it is one.
inline bool looksLikeWeight(mlir::ShapedType type) {
  return type.getRank() > 0 &&
         mlir::isa<mlir::FloatType>(type.getElementType());
}

} // namespace sinter

#endif // SINTER_GRAPH_LITERALS_H
