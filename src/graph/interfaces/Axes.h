//===- Axes.h - how dimensions of operands and results correspond ---------===//
//
//   transpose    [a, b] -> [b, a]
//   reshape      [a, b c] -> [a b, c]
//   reduce       [a, k] -> [a]
//   dot_general  [b, m, k] x [b, k, n] -> [b, m, n]
//
// An operation reports the axes that make up the dimensions of its operands and
// results. Two dimensions made of the same axes have the same size; the kinds
// of the axes tell what else they have in common.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_INTERFACES_AXES_H
#define SINTER_GRAPH_INTERFACES_AXES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace sinter {

enum class AxisKind : uint8_t {
  /// Slice i of a result depends only on slices i of the operands that have the
  /// axis, in the same way for each i (batches, free dimensions of matmuls,
  /// element-wise dimensions). A scale along a quantised dimension belongs to
  /// its slice.
  Kept,
  /// No result has it. Up to rounding, the result does not depend on the order
  /// of the slices, if that is the same in all operands that have it.
  Reduced,
  /// All slices of a result are equal; an operand that has it only defines its
  /// size.
  Repeated,
  /// Slices depend on each other, or on their index. Nothing else is known.
  Mixed,
  /// The sizes differ, by windows, strides, padding, slicing or concatenation.
  Resized
};

struct Axis {
  AxisKind kind;
  /// `?` where dynamic. For a Resized axis the size in the results.
  int64_t size = mlir::ShapedType::kDynamic;

  bool operator==(const Axis &) const = default;
};

/// The axes of a dimension, by index, outermost first. Its size is the product
/// of theirs.
using AxisList = llvm::SmallVector<unsigned, 2>;
/// One list per dimension; empty for anything but a ranked tensor.
using TensorAxes = llvm::SmallVector<AxisList, 4>;

struct Axes {
  llvm::SmallVector<Axis, 8> axes;
  llvm::SmallVector<TensorAxes, 3> operands;
  llvm::SmallVector<TensorAxes, 3> results;

  /// The first operand that has dimensions; the operand count if none has.
  unsigned leading() const;
  /// Whether an operand has the same axes as the leading one.
  bool isLeading(unsigned operand) const;
  /// Whether all axes of a dimension are of kind \p kind.
  bool areAll(const AxisList &list, AxisKind kind) const;
  /// The result's dimension whose slices depend on those of the operand's.
  std::optional<int64_t> resultOf(unsigned operand, int64_t dimension,
                                  unsigned result = 0) const;
  /// The operand's dimension whose slices determine those of the result's.
  std::optional<int64_t> operandOf(unsigned operand, int64_t dimension,
                                   unsigned result = 0) const;
  /// The dimension of \p tensor of the same size, since it has the same axes.
  std::optional<int64_t> asLarge(const AxisList &list,
                                 const TensorAxes &tensor) const;
  /// Whether two tensors have the same shape, since they have the same axes.
  bool areAsLarge(const TensorAxes &lhs, const TensorAxes &rhs) const;
  /// How many terms each element of a result sums up, if it is a sum: the
  /// product of the axes that no result has. Nothing where a size is dynamic.
  std::optional<double> depth() const;
  /// The sizes of a result, inferred from operands and attributes.
  llvm::SmallVector<int64_t> sizesOf(const TensorAxes &tensor) const;

private:
  bool isResized(const AxisList &list) const;
};

} // namespace sinter

#include "graph/interfaces/Axes.h.inc"

namespace sinter {

/// Attaches AxesOpInterface to the operations that have axes, for the dialects
/// that \p context has loaded. Each dialect calls this when it is loaded.
void attachAxes(mlir::MLIRContext *context);

/// The axes of an operation; nothing where it has none.
std::optional<Axes> axesOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_AXES_H
