// Attention, for which ONNX Runtime has an operator.

#include "formats/onnx/write/WriterRules.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

/// \p heads [B, N, L, H] as [B, L, N * H].
static Name joinedHeads(NodeWriter &e, Value heads) {
  const Ints order = {0, 2, 1, 3};
  auto type = tensorOf(heads);
  const int64_t width = type.getDimSize(1) * type.getDimSize(3);
  const Name shape = e.integers({0, 0, width});
  auto turned = heads.getDefiningOp<stablehlo::TransposeOp>();
  if (!turned || turned.getPermutation() != ArrayRef<int64_t>(order))
    return e.make("Reshape", {e.make("Transpose", {e.operand(heads)},
                                     {{"perm", ArrayRef<int64_t>(order)}}),
                              shape});
  // Rows that were split into heads before.
  auto split = turned.getOperand().getDefiningOp<stablehlo::ReshapeOp>();
  const Ints joined = {type.getDimSize(0), type.getDimSize(2), width};
  if (split &&
      tensorOf(split.getOperand()).getShape() == ArrayRef<int64_t>(joined))
    return e.operand(split.getOperand());
  return e.make("Reshape", {e.operand(turned.getOperand()), shape});
}

/// MultiHeadAttention; without ONNX Runtime as the target, its parts.
static LogicalResult writeAttention(NodeWriter &e, nn::AttentionOp op) {
  auto query = tensorOf(op.getQuery()), key = tensorOf(op.getKey()),
       value = tensorOf(op.getValue());
  const int64_t heads = query.getRank() == 4 ? query.getDimSize(1) : 0;
  auto isKnown = [&](RankedTensorType type) {
    return type.getDimSize(1) == heads && !type.isDynamicDim(3);
  };
  if (!e.writer.isForRuntime() || !elementOf(op).isF32() || heads < 1 ||
      op.getChosen() || !isKnown(query) || !isKnown(key) || !isKnown(value))
    return failure();
  Names inputs = {joinedHeads(e, op.getQuery()), joinedHeads(e, op.getKey()),
                  joinedHeads(e, op.getValue())};
  if (Value mask = op.getMask()) {
    // It broadcasts batches and heads only.
    auto type = tensorOf(mask);
    if (type.isDynamicDim(2) || type.isDynamicDim(3) ||
        type.getDimSize(2) != query.getDimSize(2) ||
        type.getDimSize(3) != key.getDimSize(2))
      return failure();
    inputs.append({Name(), Name(), e.operand(mask)});
  }
  NodeAttributes attributes = {{"num_heads", heads},
                               {"scale", op.getScale().convertToDouble()}};
  if (op.getCausal())
    attributes.push_back({"unidirectional", 1});
  const Name joined =
      e.makeForRuntime("MultiHeadAttention", inputs, attributes);
  const Name apart = e.make(
      "Reshape", {joined, e.integers({0, 0, heads, value.getDimSize(3)})});
  return e.result("Transpose", {apart},
                  {{"perm", ArrayRef<int64_t>(Ints{0, 2, 1, 3})}});
}

WriterRules attentionRules() {
  static const WriterRule rules[] = {writerRule<writeAttention>()};
  return rules;
}

} // namespace sinter::onnx
