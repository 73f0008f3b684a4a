// NonMaxSuppression.

#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult importNonMaxSuppression(NodeContext &node) {
  Value boxes = node.operand(0), scores = node.operand(1);
  if (!boxes || !scores)
    return failure();
  if (node.rank(boxes) != 3 || node.rank(scores) != 3 ||
      node.shape(boxes)[2] != 4)
    return node.fail("boxes are not [B, N, 4] or scores not [B, C, N]");
  Value most = node.has(2) ? node.cast(scalarInput(node, 2), node.i64())
                           : node.scalar(node.i64(), 0);
  Value threshold = node.has(3) ? node.cast(scalarInput(node, 3), node.f32())
                                : node.scalar(node.f32(), 0);
  Value score =
      node.has(4) ? node.cast(scalarInput(node, 4), node.f32()) : Value();
  boxes = node.cast(boxes, node.f32());
  scores = node.cast(scores, node.f32());
  if (node.failed())
    return failure();
  OperationState state(node.location(),
                       nn::NonMaxSuppressionOp::getOperationName());
  nn::NonMaxSuppressionOp::build(
      node.builder(), state,
      TypeRange{node.tensorType({ShapedType::kDynamic, 3}, node.i64())}, boxes,
      scores, most, threshold, score, node.getInt("center_point_box", 0) != 0);
  Operation *op = node.create(state);
  return op ? node.result(op->getResult(0)) : failure();
}

llvm::ArrayRef<Operator> detectionOperators() {
  static const Operator table[] = {
      {"NonMaxSuppression", "", 10, importNonMaxSuppression, 2, 5},
  };
  return table;
}

} // namespace sinter::onnx
