//===- SizeSources.h - where the sizes of a shape operand come from -------===//

#ifndef SINTER_GRAPH_SIZESOURCES_H
#define SINTER_GRAPH_SIZESOURCES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// Where the number of elements along a dimension comes from.
struct SizeSource {
  std::optional<int64_t> known;
  /// Otherwise it is that of dimension `dimension` of `of`, a shapeSource; of
  /// null where it is computed.
  mlir::Value of;
  int64_t dimension = 0;
};

/// Of each element of the vector \p sizes: of a shape operand, say. Fewer where
/// \p sizes is of unknown length.
llvm::SmallVector<SizeSource> sourcesOfSizes(mlir::Value sizes);

/// The first value above \p value that is known to have its shape.
mlir::Value shapeSource(mlir::Value value);

/// \p value without what only changes the integers' type or, of one element,
/// the rank.
mlir::Value withoutForm(mlir::Value value);

/// Whether one size is unknown.
inline bool hasOneUnknown(mlir::RankedTensorType type) {
  return llvm::count_if(type.getShape(), mlir::ShapedType::isDynamic) == 1;
}
/// Whether the number of elements decides the one size that may be unknown: two
/// tensors of this type and of as many elements have the same shape.
bool isSetByCount(mlir::RankedTensorType type);

/// The elements of a constant vector of integers (a shape operand, say).
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

} // namespace sinter

#endif // SINTER_GRAPH_SIZESOURCES_H
