// NonMaxSuppression.
//
// The boxes of each class are sorted by score; a loop over them, best first,
// strikes out what overlaps a box that stands. Where they stood, as a list
// whose length is known only at run time, is the result.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

namespace {
/// [B, C, N] each: lower and upper edges of boxes.
struct Boxes {
  Value low[2], high[2];
};
} // namespace

/// A box is two opposite corners in any order, or its centre and its extents.
static Boxes readBoxes(NodeContext &node, Value boxes) {
  auto part = [&](int64_t i) {
    return node.squeeze(node.sliceAxis(boxes, 3, i, i + 1), {3});
  };
  Boxes result;
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

/// Whether each two boxes [B, C, N, N] overlap by more than the threshold:
/// intersection > threshold * union, of boxes that have an area.
static Value overlaps(NodeContext &node, const Boxes &boxes, Value threshold) {
  auto subtract = [&](Value a, Value b) {
    return node.binary<stablehlo::SubtractOp>(a, b);
  };
  Value intersection, area;
  for (int64_t d = 0; d < 2; ++d) {
    auto pairs = [&]<typename Op>(Value edge, Op *) {
      return node.binary<Op>(node.unsqueeze(edge, {3}),
                             node.unsqueeze(edge, {2}));
    };
    Value low = pairs(boxes.low[d], static_cast<stablehlo::MaxOp *>(nullptr));
    Value high = pairs(boxes.high[d], static_cast<stablehlo::MinOp *>(nullptr));
    Value common = subtract(high, low);
    common = node.binary<stablehlo::MaxOp>(common, node.one(common, 0));
    Value extent = subtract(boxes.high[d], boxes.low[d]);
    intersection =
        intersection ? node.op<stablehlo::MulOp>(intersection, common) : common;
    area = area ? node.op<stablehlo::MulOp>(area, extent) : extent;
  }
  Value both = node.binary<stablehlo::AddOp>(node.unsqueeze(area, {3}),
                                             node.unsqueeze(area, {2}));
  Value joined = subtract(both, intersection);
  Value zero = node.one(joined, 0);
  Value share = node.op<stablehlo::DivOp>(intersection, joined);
  return node.binary<stablehlo::AndOp>(
      node.compare(share, threshold, ComparisonDirection::GT),
      node.compare(joined, zero, ComparisonDirection::GT));
}

/// One step: strikes out of \p standing [B, C, N] what is after box \p i and
/// overlaps it, if it stands itself.
static Value strike(NodeContext &node, Value i, Value standing, Value overlap) {
  Ints shape(node.shape(standing));
  Value zero = node.scalar(node.i64(), 0);
  Ints oneBox{shape[0], shape[1], 1}, oneRow{shape[0], shape[1], 1, shape[2]};
  Value stands = node.op<stablehlo::DynamicSliceOp>(
      standing, ValueRange{zero, zero, i}, ArrayRef<int64_t>(oneBox));
  Value row = node.op<stablehlo::DynamicSliceOp>(
      overlap, ValueRange{zero, zero, i, zero}, ArrayRef<int64_t>(oneRow));
  Value after = node.compare(iota(node, node.dims(standing), 2, node.i64()), i,
                             ComparisonDirection::GT);
  Value struck = node.op<stablehlo::AndOp>(
      node.binary<stablehlo::AndOp>(node.squeeze(row, {2}), stands), after);
  return node.op<stablehlo::AndOp>(standing, node.op<stablehlo::NotOp>(struck));
}

/// The loop: a counter and what still stands.
static Value strikeAll(NodeContext &node, Value standing, Value overlap) {
  if (!standing || !overlap)
    return {};
  OpBuilder &builder = node.builder();
  Location loc = node.location();
  Value start = node.scalar(node.i64(), 0);
  Type types[] = {start.getType(), standing.getType()};
  OperationState state(loc, stablehlo::WhileOp::getOperationName());
  stablehlo::WhileOp::build(builder, state, TypeRange(types),
                            ValueRange{start, standing});
  auto fill = [&](Region &region,
                  function_ref<SmallVector<Value>(Block &)> body) {
    OpBuilder::InsertionGuard guard(builder);
    if (region.empty())
      region.emplaceBlock();
    Block &block = region.front();
    block.addArguments(types, {loc, loc});
    builder.setInsertionPointToStart(&block);
    SmallVector<Value> results = body(block);
    if (!node.failed())
      builder.create<stablehlo::ReturnOp>(loc, results);
  };
  fill(*state.regions[0], [&](Block &block) -> SmallVector<Value> {
    Value count =
        node.scalar(node.i64(), static_cast<double>(node.shape(standing)[2]));
    return {node.compare(block.getArgument(0), count, ComparisonDirection::LT)};
  });
  fill(*state.regions[1], [&](Block &block) -> SmallVector<Value> {
    Value i = block.getArgument(0);
    return {node.op<stablehlo::AddOp>(i, node.scalar(node.i64(), 1)),
            strike(node, i, block.getArgument(1), overlap)};
  });
  Operation *loop = node.failed() ? nullptr : node.create(state);
  return loop ? loop->getResult(1) : Value();
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
      node.shape(boxes)[2] != 4)
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
  Value overlap =
      overlaps(node, readBoxes(node, sortedBoxes),
               node.has(3) ? node.cast(scalarInput(node, 3), element)
                           : node.scalar(element, 0));
  Value standing =
      node.has(4)
          ? node.compare(score, scalarInput(node, 4), ComparisonDirection::GT)
          : node.compare(score, score, ComparisonDirection::EQ);
  standing = strikeAll(node, standing, overlap);
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
