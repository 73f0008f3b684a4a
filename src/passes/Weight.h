//===- Weight.h - the constant operand of a product -----------------------===//

#ifndef SINTER_PASSES_WEIGHT_H
#define SINTER_PASSES_WEIGHT_H

#include "graph/interfaces/Interfaces.h"
#include "mlir/IR/Builders.h"
#include "runtime/Tensor.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// A constant operand of a product, seen through the reshapes, transposes and
/// reversals that may stand between: the file's array does not change, and a
/// new one has its order.
class Weight {
public:
  /// The floating-point weight that \p value is; nothing if it is not constant.
  /// Results of operations on constants are computed when their elements are
  /// needed: a low-bit weight may be too large for memory in floats.
  static std::optional<Weight> find(mlir::Value value);
  /// The weight of \p type that the constant \p value represents. \p compute
  /// returns its elements when they are needed.
  static Weight computed(mlir::Value value, ElementType type,
                         std::function<std::optional<Tensor>()> compute);

  /// The shape of the product's operand.
  const Shape &shape() const { return seenShape; }
  ElementType type() const { return elementType; }
  /// The name of the array, or "".
  const std::string &name() const { return sourceName; }

  /// The elements of the product's operand, in row-major order; nothing if they
  /// cannot be computed.
  std::optional<std::vector<double>> numbers() const;
  /// The array itself, which may be the file's; nothing if it cannot be
  /// computed.
  std::optional<Tensor> values() const {
    return compute ? compute() : std::optional(source);
  }
  /// The index in values() of element \p index of the product's operand.
  int64_t sourceIndex(int64_t index) const {
    return places.empty() ? index : places[index];
  }
  /// Calls `visit(sourceIndex)` with a function that does the same, and is the
  /// identity where it can be, so that loops may be vectorised.
  template <typename Visit> void withSourceIndex(Visit visit) const {
    if (places.empty())
      visit([](int64_t index) { return index; });
    else
      visit([this](int64_t index) { return places[index]; });
  }
  /// This weight with the array \p values, of the shape of values(): a new
  /// constant called \p name, and copies of the operations between it and the
  /// product, built with \p builder.
  mlir::Value rebuild(mlir::OpBuilder &builder, mlir::Location location,
                      const Tensor &values, llvm::StringRef name) const;

private:
  /// The array, or the function that computes it.
  Tensor source;
  std::function<std::optional<Tensor>()> compute;
  ElementType elementType = ElementType::F32;
  std::string sourceName;
  Shape seenShape;
  /// The operations between the constant and the product, in order.
  llvm::SmallVector<mlir::Operation *> chain;
  /// For each element of the product's operand, its index in the source; empty
  /// for the identity.
  std::vector<int64_t> places;
};

/// Maps the flat index of an element of a weight of shape \p shape to its
/// channel along \p fold.
class ChannelOf {
public:
  ChannelOf(const ChannelFold &fold, llvm::ArrayRef<int64_t> shape);
  int64_t count() const { return groups * size; }
  int64_t operator()(int64_t index) const {
    int64_t channel = index / stride % size;
    return groups == 1 ? channel
                       : index / groupStride % groups * size + channel;
  }
  /// Contiguous elements: all of one channel, or of consecutive channels.
  struct Run {
    int64_t begin, length, channel;
    bool inTurn;
  };
  /// Calls `visit(run)` for runs that together are all \p total elements, in
  /// order.
  template <typename Visit> void forEachRun(int64_t total, Visit visit) const {
    const int64_t length = runLength();
    for (int64_t begin = 0; begin < total; begin += length)
      visit(Run{begin, length, (*this)(begin), isInTurn()});
  }
  /// Of each run.
  int64_t runLength() const {
    // Groups may change within a channel's contiguous elements.
    const int64_t alike = groups == 1 ? stride : std::min(stride, groupStride);
    return isInTurn() ? size : alike;
  }
  bool isInTurn() const { return stride == 1 && groups == 1; }
  /// Calls `visit(index, channel)` for the first \p total elements in order,
  /// without a division each.
  template <typename Visit> void forEach(int64_t total, Visit visit) const {
    int64_t within = 0, channel = 0;
    for (int64_t index = 0; index < total; ++index) {
      visit(index, groups == 1 ? channel : (*this)(index));
      if (++within < stride)
        continue;
      within = 0;
      channel = channel + 1 < size ? channel + 1 : 0;
    }
  }

private:
  int64_t size, stride = 1, groups = 1, groupStride = 1;
};

} // namespace sinter

#endif // SINTER_PASSES_WEIGHT_H
