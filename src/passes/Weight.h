//===- Weight.h - the constant that a product reads, and its numbers ------===//

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
/// reversals that may stand between: the file's array stays what it is, and a
/// new one has its order.
class Weight {
public:
  /// The floating-point weight that \p value is; nothing if it is not constant.
  /// What is computed of constants is so when somebody asks for its numbers: a
  /// weight that stays narrow may be as large as memory is.
  static std::optional<Weight> find(mlir::Value value);
  /// The weight that the constant \p value stands for, of \p type, whose
  /// numbers \p compute gives when somebody asks for them.
  static Weight computed(mlir::Value value, ElementType type,
                         std::function<std::optional<Tensor>()> compute);

  /// The shape that the product sees.
  const Shape &shape() const { return seenShape; }
  ElementType type() const { return elementType; }
  /// The name of the array, or "".
  const std::string &name() const { return sourceName; }

  /// The numbers that the product sees, in row-major order; nothing if they
  /// cannot be computed.
  std::optional<std::vector<double>> numbers() const;
  /// This weight with other numbers, in the order of numbers(), rounded to its
  /// type: a new constant called \p name, and what stood between it and the
  /// product, built with \p builder.
  mlir::Value rebuild(mlir::OpBuilder &builder, mlir::Location location,
                      llvm::ArrayRef<double> numbers,
                      llvm::StringRef name) const;

private:
  /// What there is, or what computes it.
  Tensor source;
  std::function<std::optional<Tensor>()> compute;
  ElementType elementType = ElementType::F32;
  std::string sourceName;
  Shape seenShape;
  /// What stands between the constant and the product, in order.
  llvm::SmallVector<mlir::Operation *> chain;
  /// For each element that the product sees, its place in the source; empty
  /// for the same place.
  std::vector<int64_t> places;
};

/// The place along \p fold's channels that an element of a weight of shape
/// \p shape belongs to, by its flat index.
class ChannelOf {
public:
  ChannelOf(const ChannelFold &fold, llvm::ArrayRef<int64_t> shape);
  int64_t count() const { return groups * size; }
  int64_t operator()(int64_t index) const {
    int64_t channel = index / stride % size;
    return groups == 1 ? channel
                       : index / groupStride % groups * size + channel;
  }
  /// Elements that lie beside each other: of one channel, or one of each
  /// channel in turn.
  struct Run {
    int64_t begin, length, channel;
    bool inTurn;
  };
  /// Calls `visit(run)` for runs that make up all \p total elements, in order.
  template <typename Visit> void forEachRun(int64_t total, Visit visit) const {
    const bool inTurn = stride == 1 && groups == 1;
    // Groups may change within what a channel has beside each other.
    const int64_t alike = groups == 1 ? stride : std::min(stride, groupStride);
    const int64_t length = inTurn ? size : alike;
    for (int64_t begin = 0; begin < total; begin += length)
      visit(Run{begin, length, inTurn ? 0 : (*this)(begin), inTurn});
  }
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
