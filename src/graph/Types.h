//===- Types.h - type queries that all dialects share ---------------------===//

#ifndef SINTER_GRAPH_TYPES_H
#define SINTER_GRAPH_TYPES_H

#include "graph/Dim.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "runtime/ElementType.h"
#include "runtime/Tensor.h"
#include <optional>

namespace sinter {

/// The type of a value that is a ranked tensor.
inline mlir::RankedTensorType tensorOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Whether \p type is !text.string.
bool isStringType(mlir::Type type);
/// Whether \p type is a tensor type of strings.
bool isStringTensor(mlir::Type type);

/// Whether \p type is an integer type of 2 to 8 bits.
bool isNarrowInteger(mlir::Type type);

/// Whether \p type is a tensor type with a dynamic dimension.
bool isOfUnknownSize(mlir::Type type);
/// Whether a result of \p root, or of an operation inside it, has a dynamic
/// dimension.
bool hasResultOfUnknownSize(mlir::Operation *root);
/// Whether an operand or a result of \p op has a dynamic dimension.
bool isOnUnknownSizes(mlir::Operation *op);

/// Whether \p type is a uniform quantised type that StableHLO allows: of 2 to
/// 32 bits, expressing a float, with its zero points inside the storage type's
/// range; one scale for all, or \p perAxis.
bool isQuantizedElement(mlir::Type type, bool perAxis);

/// Whether a tensor that is quantised per axis has that axis, and one scale per
/// element along it; true for all other types.
bool hasScalePerSlice(mlir::Type type);

/// \p type without its quantisation parameters: scales 1, zero points 0, no
/// axis. baseline_element_type of the specification.
mlir::Type baselineElementType(mlir::Type type);

/// Whether inferred types and the actual types agree: the same element types
/// but for scales and zero points, which are not inferred, and dimensions that
/// are equal where both are static, and within a bound.
bool compatibleTypes(mlir::TypeRange inferred, mlir::TypeRange actual);

/// The same, but quantisation parameters must agree, too.
bool compatibleMovedTypes(mlir::TypeRange inferred, mlir::TypeRange actual);

/// The result type of an elementwise op: the first operand's element type, and
/// every dimension that is static in any operand. Fails where two static
/// dimensions differ.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> location,
                                     mlir::ValueRange operands,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// The shape that \p lhs and \p rhs broadcast to by NumPy's rule; `?` against a
/// known size other than 1 gives that size. Nothing if they do not broadcast.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// The runtime's element type for an MLIR element type; nothing for a type that
/// the runtime lacks (index is i64, a quantised type its storage type).
std::optional<ElementType> elementTypeOf(mlir::Type type);
/// The MLIR element type for a runtime element type (signed integers are
/// signless).
mlir::Type mlirTypeOf(ElementType type, mlir::MLIRContext *context);
/// tensor<...> of a runtime shape and element type.
mlir::RankedTensorType tensorTypeOf(ElementType type,
                                    llvm::ArrayRef<int64_t> shape,
                                    mlir::MLIRContext *context);

} // namespace sinter

#endif // SINTER_GRAPH_TYPES_H
