//===- PackedSequence.h - sequences of a computed length ------------------===//
//
// A sequence with a number of tensors, or a position, that is computed at run
// time is represented by two tensors:
//
//   data    [E]     the elements of all tensors, one tensor after the other
//   shapes  [N, R]  the shape of each; a tensor of rank 0 has the shape [1]
//
// Restrictions: all tensors have one element type and one rank; only with
// ReadOptions::expandsUnknown.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_PACKEDSEQUENCE_H
#define SINTER_FORMATS_ONNX_OPS_PACKEDSEQUENCE_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// The common type of all tensors of \p bound, a sequence, and those of type
/// \p first (may be null): dimensions in which they differ are dynamic. Null if
/// there are no tensors; fails if ranks or element types differ.
std::optional<mlir::RankedTensorType>
tensorTypeOf(NodeContext &node, const Bound &bound,
             mlir::RankedTensorType first = {});

class PackedSequence {
public:
  PackedSequence(NodeContext &node, mlir::Value data, mlir::Value shapes,
                 mlir::RankedTensorType type)
      : node(node), data(data), shapes(shapes), type(type) {}

  /// Packs \p bound, a sequence, as tensors of \p type, or without it of their
  /// common type. Waits for values without ReadOptions::expandsUnknown.
  static std::optional<PackedSequence> of(NodeContext &node, const Bound &bound,
                                          mlir::RankedTensorType type = {});
  /// \p x split along \p axis into tensors of \p lengths, [N]; the graph checks
  /// that these are not negative and add up to the size.
  static PackedSequence split(NodeContext &node, mlir::Value x, int64_t axis,
                              mlir::Value lengths);
  /// \p x split along \p axis into tensors of size 1, or without the dimension.
  static PackedSequence splitEach(NodeContext &node, mlir::Value x,
                                  int64_t axis, bool keepsDimension);

  Bound bound() const;
  mlir::RankedTensorType tensorType() const { return type; }

  /// The number of tensors.
  Dim length() const { return node.dim(shapes, 0); }
  /// The tensor at \p position, [1]; a negative one counts from the end.
  mlir::Value at(mlir::Value position) const;
  /// The sequence with \p tensor inserted before \p position, or at the end if
  /// it is null.
  std::optional<PackedSequence> insert(mlir::Value tensor,
                                       mlir::Value position) const;
  /// The sequence without the tensor at \p position, or without the last if it
  /// is null.
  PackedSequence erase(mlir::Value position) const;
  /// All tensors concatenated along \p axis, or along a new one.
  mlir::Value concatenate(int64_t axis, bool isNew) const;

private:
  int64_t columns() const { return std::max<int64_t>(type.getRank(), 1); }
  mlir::Value normalize(mlir::Value position, bool mayBeEnd) const;
  mlir::Value startOf(mlir::Value position) const;
  Dims dimsAt(mlir::Value position) const;
  mlir::Value column(int64_t axis) const;
  void requireAlike(int64_t axis, bool isNew) const;

  NodeContext &node;
  mlir::Value data, shapes;
  /// The type of each tensor; sizes that differ between them are dynamic.
  mlir::RankedTensorType type;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_PACKEDSEQUENCE_H
