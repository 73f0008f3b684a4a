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

namespace sinter {

inline constexpr llvm::StringLiteral literalAttribute = "sinter.literal";

/// Says of the constant \p op that a node of the file gives it.
inline void setLiteral(mlir::Operation *op) {
  op->setAttr(literalAttribute, mlir::UnitAttr::get(op->getContext()));
}

inline bool isLiteral(mlir::Operation *op) {
  return op->hasAttr(literalAttribute);
}

} // namespace sinter

#endif // SINTER_GRAPH_LITERALS_H
