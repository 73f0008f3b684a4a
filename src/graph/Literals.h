//===- Literals.h - constants that are not weights of a file --------------===//
//
// Formats that list their weights may also have constants that nodes of the
// graph produce: a factor, a mask, the ones that serve a norm without a scale.
// They have names like weights, but training does not change them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_LITERALS_H
#define SINTER_GRAPH_LITERALS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sinter {

inline constexpr llvm::StringLiteral literalAttribute = "sinter.literal";

/// Marks the constant \p op as the output of a node of the file.
inline void setLiteral(mlir::Operation *op) {
  op->setAttr(literalAttribute, mlir::UnitAttr::get(op->getContext()));
}

inline bool isLiteral(mlir::Operation *op) {
  return op->hasAttr(literalAttribute);
}

/// Whether training could take a constant of \p type for a weight: it has
/// floating-point elements and a dimension. Writers mark such literals.
inline bool looksLikeWeight(mlir::ShapedType type) {
  return type.getRank() > 0 &&
         mlir::isa<mlir::FloatType>(type.getElementType());
}

} // namespace sinter

#endif // SINTER_GRAPH_LITERALS_H
