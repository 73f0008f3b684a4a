//===- NamedSizes.h - sizes that are the same, though nobody knows them ---===//
//
// A dimension `?` says only that its size is not known. In a graph that is
// compiled for all sizes each unknown dimension has a *named* size: a number
// that no tensor has stands for it, the same one for sizes that are always the
// same. The type has them as its encoding,
//
//   tensor<?x128xf32, array<i64: NAME, 128>>
//
// and `shapeOf` gives them in the place of the sizes. So code that compares
// shapes needs not know of them. Code that computes with sizes must ask first:
// what arithmetic makes of a name is no name any more, so that mistakes are
// found where such a number is used (`isNoSize`).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NAMEDSIZES_H
#define SINTER_GRAPH_NAMEDSIZES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

namespace sinter {

/// The name of size \p number; numbers are below 2^29. The lowest bits are odd,
/// so that neither a multiple of a name nor a name and a number more is one.
inline constexpr int64_t nameOfSize(int64_t number) {
  constexpr int64_t all = int64_t(1) << 62, mark = 0x5a17b3c9;
  return all | number << 32 | mark;
}
/// The number of the size that \p size is a name of.
inline constexpr std::optional<int64_t> namedSize(int64_t size) {
  const int64_t number = size >> 32 & ((int64_t(1) << 29) - 1);
  if (size != nameOfSize(number))
    return std::nullopt;
  return number;
}
inline constexpr bool isNamed(int64_t size) {
  return namedSize(size).has_value();
}
/// Whether neither sizes nor names are so large, or so small: what somebody
/// made of a name.
inline constexpr bool isNoSize(int64_t number) {
  constexpr int64_t most = int64_t(1) << 46;
  return (number >= most || number <= -most) && !isNamed(number);
}
/// Whether nobody knows \p size before the program runs: it has a name, or will
/// get one.
inline bool isUnknownSize(int64_t size) {
  return isNamed(size) || mlir::ShapedType::isDynamic(size);
}
inline bool hasNamed(llvm::ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, isNamed);
}

/// The sizes of \p type, or their names.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::RankedTensorType type) {
  if (mlir::Attribute encoding = type.getEncoding())
    if (auto names = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(encoding))
      return names.asArrayRef();
  return type.getShape();
}
inline bool hasNamedSizes(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor &&
         mlir::isa_and_nonnull<mlir::DenseI64ArrayAttr>(tensor.getEncoding());
}

/// A tensor type of sizes, some of which may be names.
inline mlir::RankedTensorType typeOfSizes(llvm::ArrayRef<int64_t> sizes,
                                          mlir::Type element) {
  if (!hasNamed(sizes))
    return mlir::RankedTensorType::get(sizes, element);
  llvm::SmallVector<int64_t> shape(sizes);
  for (int64_t &size : shape)
    if (isNamed(size))
      size = mlir::ShapedType::kDynamic;
  return mlir::RankedTensorType::get(
      shape, element,
      mlir::DenseI64ArrayAttr::get(element.getContext(), sizes));
}

} // namespace sinter

#endif // SINTER_GRAPH_NAMEDSIZES_H
