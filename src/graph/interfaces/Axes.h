//===- Axes.h - how dimensions of operands and results correspond ---------===//
//
//   transpose [a, b] -> [b, a]         dot_general [b, m, k] x [b, k, n] -> [b,
//   m, n] reshape [a, b c] -> [a b, c]       reduce [a, k] -> [a]
//
// An operation says once of what axes the dimensions of its operands and
// results are made. Where two dimensions are made of the same axes, they are of
// the same size; what else they have in common is the kind of the axes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_INTERFACES_AXES_H
#define SINTER_GRAPH_INTERFACES_AXES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace sinter {

enum class AxisKind : uint8_t {
  /// Slice i of a result follows from slices i of the operands that have the
  /// axis, and in the same way for each i (batches, free dimensions of
  /// products, whatever is elementwise). A scale along a quantised dimension
  /// belongs to its slice.
  Kept,
  /// No result has it: what follows does not depend on the order of the
  /// slices, if they are in the same order in all operands that have it, but
  /// for rounding.
  Reduced,
  /// All slices of a result are equal; an operand that has it gives its size
  /// only.
  Repeated,
  /// Slices depend on each other, or on their number. The only axis of its
  /// kind in one tensor says nothing.
  Mixed,
  /// The sizes differ: what windows, strides, padding, parts and joints make
  /// of a dimension.
  Resized
};

struct Axis {
  AxisKind kind;
  /// `?` where it is not known. Of a Resized one that in the results.
  int64_t size = mlir::ShapedType::kDynamic;

  bool operator==(const Axis &) const = default;
};

/// A dimension as a list of axes, by their numbers, the outermost first: it is
/// as large as their product.
using AxisList = llvm::SmallVector<unsigned, 2>;
/// One list a dimension; none for what is not a ranked tensor.
using TensorAxes = llvm::SmallVector<AxisList, 4>;

struct Axes {
  llvm::SmallVector<Axis, 8> axes;
  llvm::SmallVector<TensorAxes, 3> operands;
  llvm::SmallVector<TensorAxes, 3> results;

  /// The first operand that has dimensions; the number of operands if none has.
  unsigned leading() const;
  /// Whether an operand has the axes of the leading one.
  bool isLeading(unsigned operand) const;
  /// Whether all axes of a dimension are of the kind.
  bool areAll(const AxisList &list, AxisKind kind) const;
  /// The result's dimension whose slices follow from those of the operand's.
  std::optional<int64_t> resultOf(unsigned operand, int64_t dimension,
                                  unsigned result = 0) const;
  /// The operand's dimension from whose slices those of the result's follow.
  std::optional<int64_t> operandOf(unsigned operand, int64_t dimension,
                                   unsigned result = 0) const;
  /// The dimension of \p tensor that is as large, since it is made of the same
  /// axes.
  std::optional<int64_t> asLarge(const AxisList &list,
                                 const TensorAxes &tensor) const;
  /// Whether two tensors have one shape, since they are made of the same axes.
  bool areAsLarge(const TensorAxes &lhs, const TensorAxes &rhs) const;
  /// How many combinations of operands' elements each element of a result is
  /// the sum of, if it is one: the product of the axes that no result has.
  /// Nothing where a size is unknown.
  std::optional<double> depth() const;
  /// The sizes of a result as they follow from operands and attributes.
  llvm::SmallVector<int64_t> sizesOf(const TensorAxes &tensor) const;

private:
  bool isResized(const AxisList &list) const;
};

} // namespace sinter

#include "graph/interfaces/Axes.h.inc"

namespace sinter {

/// Makes the operations of the dialects that \p context has loaded implement
/// AxesOpInterface, as far as they have axes. Each dialect does so when it is
/// loaded.
void attachAxes(mlir::MLIRContext *context);

/// The axes of an operation; nothing where it has none.
std::optional<Axes> axesOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_AXES_H
