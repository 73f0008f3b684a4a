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
      (node.size(boxes, 2) != 4 && !ShapedType::isDynamic(node.size(boxes, 2))))
    return node.fail("boxes are not [B, N, 4] or scores not [B, C, N]");
  Value most = node.has(2) ? node.cast(scalarInput(node, 2), node.i64())
                           : node.scalar(node.i64(), 0),
        overlap = node.has(3) ? scalarInput(node, 3)
                              : node.scalar(node.element(boxes), 0),
        threshold = node.has(4) ? scalarInput(node, 4) : Value();
  if (!most || !overlap || (node.has(4) && !threshold))
    return failure();
  return node.result(node.typed<nn::NonMaxSuppressionOp>(
      node.tensorType({ShapedType::kDynamic, 3}, node.i64()), boxes, scores,
      most, overlap, MaybeValue{threshold},
      node.getInt("center_point_box", 0) != 0));
}

llvm::ArrayRef<Operator> detectionOperators() {
  static const Operator table[] = {
      {"NonMaxSuppression", "", 10, importNonMaxSuppression, 2, 5},
  };
  return table;
}

} // namespace sinter::onnx
