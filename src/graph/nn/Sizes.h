//===- Sizes.h - shapes with dynamic dimensions ---------------------------===//
//
// The shapes that TensorBuilder works with. The size of a dimension is an
// integer where it is static, else a reference to the value that has or holds
// it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_SIZES_H
#define SINTER_GRAPH_NN_SIZES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::nn {

/// The size of one dimension.
class Size {
public:
  Size(int64_t known) : number(known) {}
  /// The size of dimension \p dimension of \p value.
  static Size of(mlir::Value value, int64_t dimension) {
    const int64_t known = mlir::cast<mlir::RankedTensorType>(value.getType())
                              .getDimSize(dimension);
    return mlir::ShapedType::isDynamic(known) ? Size(value, dimension)
                                              : Size(known);
  }
  /// A size that is computed at run time: \p extent, a tensor<1xi32>.
  static Size computed(mlir::Value extent) { return Size(extent, -1); }

  bool isKnown() const { return !mlir::ShapedType::isDynamic(number); }
  /// The static size, or ShapedType::kDynamic.
  int64_t known() const { return number; }
  /// Whether both are known to be the same.
  bool operator==(const Size &other) const = default;

private:
  friend class TensorBuilder;
  Size(mlir::Value source, int64_t dimension)
      : number(mlir::ShapedType::kDynamic), source(source),
        dimension(dimension) {}

  int64_t number;
  /// For a dynamic size: the value that has it along `dimension`; if that is
  /// negative, the value that holds it.
  mlir::Value source;
  int64_t dimension = 0;
};

/// The sizes of all dimensions.
class Sizes : public llvm::SmallVector<Size, 4> {
public:
  using SmallVector::SmallVector;
  Sizes() = default;
  Sizes(std::initializer_list<nn::Size> sizes) : SmallVector(sizes) {}
  Sizes(llvm::ArrayRef<nn::Size> sizes)
      : SmallVector(sizes.begin(), sizes.end()) {}
  /// Static sizes.
  Sizes(llvm::ArrayRef<int64_t> known)
      : SmallVector(known.begin(), known.end()) {}
  Sizes(const llvm::SmallVectorImpl<int64_t> &known)
      : SmallVector(known.begin(), known.end()) {}
  template <size_t Rank>
  Sizes(const std::array<int64_t, Rank> &known)
      : SmallVector(known.begin(), known.end()) {}

  Sizes take_front(size_t count) const {
    return Sizes(begin(), begin() + count);
  }
  Sizes drop_front(size_t count = 1) const {
    return Sizes(begin() + count, end());
  }
  Sizes take_back(size_t count) const { return Sizes(end() - count, end()); }

  bool areKnown() const {
    return llvm::all_of(*this,
                        [](const nn::Size &size) { return size.isKnown(); });
  }
  /// The shape for a tensor type.
  llvm::SmallVector<int64_t> shape() const {
    llvm::SmallVector<int64_t> shape;
    for (const nn::Size &size : *this)
      shape.push_back(size.known());
    return shape;
  }
};

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_SIZES_H
