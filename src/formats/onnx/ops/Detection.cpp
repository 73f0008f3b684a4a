// NonMaxSuppression.
//
// The boxes of each class are sorted by score; a loop over them, best first,
// strikes out what overlaps a box that stands. Where they stood, as a list
// whose length is known only at run time, is the result.

#include "formats/import/Suppression.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

using formats::BoxEdges;

/// A box is two opposite corners in any order, or its centre and its extents.
static BoxEdges readBoxes(NodeContext &node, Value boxes) {
  auto part = [&](int64_t i) {
    return node.squeeze(node.sliceAxis(boxes, 3, i, i + 1), {3});
  };
  BoxEdges result;
  bool centred = node.getInt("center_point_box", 0) != 0;
  for (int64_t d = 0; d < 2; ++d) {
    Value first = part(d), second = part(d + 2);
    if (centred) {
      Value half = node.binary<stablehlo::DivOp>(second, node.one(second, 2));
      result.low[d] = node.op<stablehlo::SubtractOp>(first, half);
      result.high[d] = node.op<stablehlo::AddOp>(first, half);
    } else {
      result.low[d] = node.op<stablehlo::MinOp>(first, second);
      result.high[d] = node.op<stablehlo::MaxOp>(first, second);
    }
  }
  return result;
}

/// Whether boxes overlap by more than the threshold: intersection > threshold *
/// union, of boxes that have an area.
static Value overlaps(NodeContext &node, const BoxEdges &one,
                      const BoxEdges &all, Value threshold) {
  Value intersection;
  for (int64_t d = 0; d < 2; ++d) {
    Value common = node.binary<stablehlo::SubtractOp>(
        node.binary<stablehlo::MinOp>(one.high[d], all.high[d]),
        node.binary<stablehlo::MaxOp>(one.low[d], all.low[d]));
    common = node.binary<stablehlo::MaxOp>(common, node.one(common, 0));
    intersection =
        intersection ? node.op<stablehlo::MulOp>(intersection, common) : common;
  }
  auto area = [&](const BoxEdges &boxes) {
    return node.op<stablehlo::MulOp>(
        node.op<stablehlo::SubtractOp>(boxes.high[0], boxes.low[0]),
        node.op<stablehlo::SubtractOp>(boxes.high[1], boxes.low[1]));
  };
  Value joined = node.binary<stablehlo::SubtractOp>(
      node.binary<stablehlo::AddOp>(area(one), area(all)), intersection);
  Value share = node.op<stablehlo::DivOp>(intersection, joined);
  return node.binary<stablehlo::AndOp>(
      node.compare(share, threshold, ComparisonDirection::GT),
      node.compare(joined, node.one(joined, 0), ComparisonDirection::GT));
}

/// The rows [batch, class, box] of those that stand: \p order names the box at
/// each place.
static Value listStanding(NodeContext &node, Value standing, Value order) {
  Value places = node.typed<nn::NonZeroOp>(
      node.tensorType({3, ShapedType::kDynamic}, node.i64()), standing);
  Value rows = node.transpose(places, {1, 0});
  auto dimensions = stablehlo::GatherDimensionNumbersAttr::get(
      node.context(), {}, {0, 1, 2}, {}, {}, {0, 1, 2}, 1);
  Value boxes = node.op<stablehlo::GatherOp>(order, rows, dimensions,
                                             ArrayRef<int64_t>{1, 1, 1});
  Value where = node.sliceAxis(rows, 1, 0, 2);
  if (!boxes || !where)
    return {};
  return node.concatenate({where, node.unsqueeze(boxes, {1})}, 1);
}

static LogicalResult importNonMaxSuppression(NodeContext &node) {
  Value boxes = node.operand(0), scores = node.operand(1);
  if (!boxes || !scores)
    return failure();
  if (node.rank(boxes) != 3 || node.rank(scores) != 3 ||
      (node.shape(boxes)[2] != 4 &&
       !ShapedType::isDynamic(node.shape(boxes)[2])))
    return node.fail("boxes are not [B, N, 4] or scores not [B, C, N]");
  if (!node.isStatic(boxes) || !node.isStatic(scores))
    return node.unknown("an unknown number of boxes");
  int64_t batch = node.shape(scores)[0], classes = node.shape(scores)[1];
  int64_t count = node.shape(scores)[2];
  Operation *sorted = node.inferred<nn::TopKOp>(
      scores, static_cast<uint64_t>(count), uint64_t(2), true);
  if (!sorted)
    return failure();
  Value score = sorted->getResult(0), order = sorted->getResult(1);
  Dims all{batch, classes, count, 4};
  Value sortedBoxes = node.op<nn::TakeAlongOp>(
      node.broadcastInDim(boxes, all, {0, 2, 3}),
      node.broadcastInDim(order, all, {0, 1, 2}), uint64_t(2));
  if (!sortedBoxes)
    return failure();
  Type element = node.element(boxes);
  Value threshold = node.has(3) ? node.cast(scalarInput(node, 3), element)
                                : node.scalar(element, 0);
  Value standing =
      node.has(4)
          ? node.compare(score, scalarInput(node, 4), ComparisonDirection::GT)
          : node.compare(score, score, ComparisonDirection::EQ);
  standing = suppress(node, readBoxes(node, sortedBoxes), standing,
                      [&](const BoxEdges &one, const BoxEdges &all) {
                        return overlaps(node, one, all, threshold);
                      });
  Value rank = node.op<nn::CumulativeSumOp>(node.cast(standing, node.i64()),
                                            uint64_t(2), false, false);
  Value most = node.has(2) ? node.cast(scalarInput(node, 2), node.i64())
                           : node.scalar(node.i64(), 0);
  standing = node.binary<stablehlo::AndOp>(
      standing, node.compare(rank, most, ComparisonDirection::LE));
  return node.result(listStanding(node, standing, order));
}

llvm::ArrayRef<Operator> detectionOperators() {
  static const Operator table[] = {
      {"NonMaxSuppression", "", 10, importNonMaxSuppression, 2, 5},
  };
  return table;
}

} // namespace sinter::onnx
