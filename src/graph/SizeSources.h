//===- SizeSources.h - where the sizes of a shape operand come from -------===//

#ifndef SINTER_GRAPH_SIZESOURCES_H
#define SINTER_GRAPH_SIZESOURCES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// Where the size of a dimension comes from.
struct SizeSource {
  std::optional<int64_t> known;
  /// If not known, it is the size of dimension `dimension` of `of`, a
  /// shapeSource; null where the size is computed.
  mlir::Value of;
  int64_t dimension = 0;
};

/// The source of each element of the vector \p sizes, such as a shape operand.
/// Fewer where \p sizes has a dynamic length.
llvm::SmallVector<SizeSource> sourcesOfSizes(mlir::Value sizes);

/// The first value above \p value that is known to have its shape.
mlir::Value shapeSource(mlir::Value value);

/// \p value with conversions of the integer type and, for a single element,
/// reshapes stripped.
mlir::Value withoutForm(mlir::Value value);

/// Whether exactly one dimension is dynamic.
inline bool hasOneUnknown(mlir::RankedTensorType type) {
  return llvm::count_if(type.getShape(), mlir::ShapedType::isDynamic) == 1;
}
/// Whether the element count determines the one size that may be dynamic: two
/// tensors of this type with as many elements have the same shape.
bool isSetByCount(mlir::RankedTensorType type);

/// The elements of a constant vector of integers (a shape operand, say).
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

} // namespace sinter

#endif // SINTER_GRAPH_SIZESOURCES_H
