//===- RuntimeAttention.h - what ONNX Runtime's attentions share ----------===//

#ifndef SINTER_FORMATS_ONNX_OPS_RUNTIMEATTENTION_H
#define SINTER_FORMATS_ONNX_OPS_RUNTIMEATTENTION_H

#include "formats/import/Attention.h"
#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Attribute \p name, a number of heads; fails if it is missing or not
/// positive.
std::optional<int64_t> headsOf(NodeContext &node, llvm::StringRef name);

/// Attribute `scale`; by default, and for 0, 1 / sqrt(head size of \p query).
double attentionScale(NodeContext &node, mlir::Value query);

/// The number \p value, one element, as a size: known, or the element itself;
/// fails if it is known and no length.
Dim sizeOf(NodeContext &node, mlir::Value value);

/// Whether two sizes are equal; nothing if that is known only at run time.
std::optional<bool> areEqual(const Dim &a, const Dim &b);

/// The first \p count rows of \p x along dimension \p axis, if it has others.
mlir::Value firstRows(NodeContext &node, mlir::Value x, int64_t axis,
                      const Dim &count);

/// What \p mask, of integers, adds to scores [B, N, S, T] of \p query [B, N, S,
/// H]: attribute `mask_filter_value` where it hides a key. It is [B, T] or [B,
/// S, T], 0 for hidden keys; or the number of keys [B]; or where they end, then
/// where they start, [2 B]. Null if \p mask is.
mlir::Value paddingBias(NodeContext &node, mlir::Value mask, mlir::Value query,
                        const Dim &keys);

/// The sum of two biases of scores, each of which may be null.
mlir::Value sumOfBiases(NodeContext &node, mlir::Value a, mlir::Value b);

/// Query i sees the keys up to \p past + i.
void hideLaterKeys(NodeContext &node, formats::AttentionParts &parts,
                   const Dim &past);

/// The attention of projections [B, S, D], [B, S, D], [B, S, V] as operators
/// with one tensor for past keys and values have it: input \p past [2, B, N, P,
/// H] and output 1; input \p mask, of integers; input \p bias [B or 1, N or 1,
/// S, T]; attributes num_heads, unidirectional, scale. A negative input is
/// absent.
mlir::LogicalResult attendProjected(NodeContext &node, mlir::Value query,
                                    mlir::Value key, mlir::Value value,
                                    int64_t mask, int64_t past, int64_t bias);

/// The parts of \p x along its last dimension: \p widths each, which sum up to
/// its size.
Values partsOfLast(NodeContext &node, mlir::Value x,
                   llvm::ArrayRef<int64_t> widths);

/// Rows [tokens, D] of sequences of several lengths, as [B, S, D] and back.
struct PackedRows {
  NodeContext &node;
  /// Where each token is among B * S: [tokens, 1].
  mlir::Value places;
  /// B, S.
  Dims sizes;

  /// From \p places [B, S], where the tokens of all sequences are, then the
  /// padding.
  static std::optional<PackedRows> of(NodeContext &node, mlir::Value rows,
                                      mlir::Value places);
  /// Zeros where no token is.
  mlir::Value unpack(mlir::Value rows) const;
  mlir::Value pack(mlir::Value padded) const;
};

/// The widths of query, key and value in a projection to \p width elements:
/// attribute qkv_hidden_sizes, or thirds.
std::optional<Ints> projectedWidths(NodeContext &node, int64_t width);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_RUNTIMEATTENTION_H
