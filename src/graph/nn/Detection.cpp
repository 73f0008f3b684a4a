// Boxes of detectors.

#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using Direction = sinter::stablehlo::ComparisonDirection;

namespace sinter::nn {

LogicalResult NonMaxSuppressionOp::verify() {
  ArrayRef<int64_t> boxes = tensorOf(getBoxes()).getShape(),
                    scores = tensorOf(getScores()).getShape(),
                    result = tensorOf(getResult()).getShape();
  auto differ = [](int64_t a, int64_t b) {
    return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
  };
  if (differ(boxes[2], 4))
    return emitOpError("boxes have ") << boxes[2] << " numbers, not 4";
  if (differ(boxes[0], scores[0]))
    return emitOpError("there are boxes of ")
           << boxes[0] << " samples and scores of " << scores[0];
  if (differ(boxes[1], scores[2]))
    return emitOpError("there are ")
           << boxes[1] << " boxes and scores of " << scores[2];
  if (differ(result[1], 3))
    return emitOpError("rows of the result have ")
           << result[1] << " numbers, not 3";
  return success();
}

namespace {

/// The lower and upper edges along both dimensions.
struct Edges {
  Value low[2], high[2];
};

/// Builds the operation for known sizes: boxes in the order of their scores,
/// and a loop over them in which each that stands strikes out those behind it.
class Suppression {
public:
  Suppression(NonMaxSuppressionOp op, OpBuilder &builder)
      : op(op), emit(builder, op.getLoc()) {
    ArrayRef<int64_t> scores = tensorOf(op.getScores()).getShape();
    all = Sizes(scores);
  }

  Value build() {
    auto [score, order] = takeTop(emit, op.getScores(), 2, all[2], true);
    Value threshold = op.getScoreThreshold();
    Value standing = threshold ? emit.compare(Direction::GT, score,
                                              emit.spreadLike(threshold, score))
                               : emit.compare(Direction::EQ, score, score);
    standing = strikeOut(edgesInOrder(order), standing);
    Type index = emit.integerType(64);
    Value rank = emit.make<CumulativeSumOp>(emit.convert(standing, index),
                                            uint64_t(2), false, false);
    standing = emit.make<stablehlo::AndOp>(
        standing,
        emit.compare(Direction::LE, rank, emit.spreadLike(op.getMost(), rank)));
    return list(standing, order);
  }

private:
  Edges edgesInOrder(Value order) {
    auto part = [&](int64_t i) {
      Value one = emit.reshape(emit.slice(op.getBoxes(), 2, i, i + 1),
                               Sizes{all[0], all[2]});
      return emit.make<TakeAlongOp>(emit.broadcast(one, {0, 2}, all), order,
                                    uint64_t(2));
    };
    Edges edges;
    for (int64_t d = 0; d < 2; ++d) {
      Value first = part(d), second = part(d + 2);
      if (op.getCentred()) {
        Value half = emit.div(second, 2.0);
        edges.low[d] = emit.sub(first, half);
        edges.high[d] = emit.add(first, half);
      } else {
        edges.low[d] = emit.min(first, second);
        edges.high[d] = emit.max(first, second);
      }
    }
    return edges;
  }

  /// Whether boxes overlap by more than the threshold.
  Value overlaps(const Edges &one, const Edges &others) {
    Value intersection;
    for (int64_t d = 0; d < 2; ++d) {
      Value common = emit.sub(emit.min(one.high[d], others.high[d]),
                              emit.max(one.low[d], others.low[d]));
      common = emit.max(common, 0.0);
      intersection = intersection ? emit.mul(intersection, common) : common;
    }
    auto area = [&](const Edges &boxes) {
      return emit.mul(emit.sub(boxes.high[0], boxes.low[0]),
                      emit.sub(boxes.high[1], boxes.low[1]));
    };
    Value joined = emit.sub(emit.add(area(one), area(others)), intersection);
    Value share = emit.div(intersection, joined);
    return emit.make<stablehlo::AndOp>(
        emit.compare(Direction::GT, share,
                     emit.spreadLike(op.getIouThreshold(), share)),
        emit.compare(Direction::GT, joined, 0.0));
  }

  /// Element \p i of the last dimension, everywhere along it.
  Value everywhere(Value value, Value i) {
    Value zero = emit.scalar(0, emit.integerType(64));
    Sizes one = {all[0], all[1], 1};
    Value slice = emit.make<stablehlo::DynamicSliceOp>(
        value, ValueRange{zero, zero, i}, ArrayRef<int64_t>(one.shape()));
    return emit.broadcast(emit.reshape(slice, Sizes{all[0], all[1]}), {0, 1},
                          all);
  }

  Value strikeOut(const Edges &edges, Value standing) {
    OpBuilder &builder = emit.builder;
    Type index = emit.integerType(64);
    Value places = emit.iota(all, 2, index);
    // Behind the last one that stands anywhere nothing is struck out.
    Value counted =
        emit.select(standing, emit.add(places, 1.0), emit.splatLike(0, places));
    Value end = emit.reduce<stablehlo::MaxOp>(counted, emit.scalar(0, index),
                                              {0, 1, 2});
    SmallVector<Value> carried = {emit.scalar(0, index), standing};
    SmallVector<Type> types = {carried[0].getType(), carried[1].getType()};
    SmallVector<Location> locations(2, emit.location);
    auto loop =
        builder.create<stablehlo::WhileOp>(emit.location, types, carried);
    OpBuilder::InsertionGuard guard(builder);
    Block *condition =
        builder.createBlock(&loop.getCond(), {}, types, locations);
    builder.create<stablehlo::ReturnOp>(
        emit.location,
        emit.compare(Direction::LT, condition->getArgument(0), end));
    Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
    Value i = body->getArgument(0), still = body->getArgument(1);
    Edges one;
    for (int64_t d = 0; d < 2; ++d) {
      one.low[d] = everywhere(edges.low[d], i);
      one.high[d] = everywhere(edges.high[d], i);
    }
    Value struck =
        emit.make<stablehlo::AndOp>(overlaps(one, edges), everywhere(still, i));
    struck = emit.make<stablehlo::AndOp>(
        struck,
        emit.compare(Direction::GT, places, emit.spreadLike(i, places)));
    Value left =
        emit.make<stablehlo::AndOp>(still, emit.make<stablehlo::NotOp>(struck));
    builder.create<stablehlo::ReturnOp>(emit.location,
                                        ValueRange{emit.add(i, 1.0), left});
    return loop->getResult(1);
  }

  /// The rows [batch, class, box] of those that stand.
  Value list(Value standing, Value order) {
    auto type =
        RankedTensorType::get({3, ShapedType::kDynamic}, emit.integerType(64));
    Value rows = emit.transpose(
        emit.builder.create<NonZeroOp>(emit.location, type, standing), {1, 0});
    auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
        emit.builder.getContext(), {}, {0, 1, 2}, {}, {}, {0, 1, 2}, 1);
    Value boxes = emit.make<stablehlo::GatherOp>(order, rows, numbers,
                                                 ArrayRef<int64_t>{1, 1, 1},
                                                 /*indices_are_sorted=*/false);
    Sizes column = {Size::of(boxes, 0), 1};
    return emit.concatenate(
        {emit.slice(rows, 1, 0, 2), emit.reshape(boxes, column)}, 1);
  }

  NonMaxSuppressionOp op;
  TensorBuilder emit;
  Sizes all;
};

} // namespace

FailureOr<SmallVector<Value>>
NonMaxSuppressionOp::decompose(OpBuilder &builder) {
  if (!tensorOf(getBoxes()).hasStaticShape() ||
      !tensorOf(getScores()).hasStaticShape())
    return failure();
  return SmallVector<Value>{Suppression(*this, builder).build()};
}

} // namespace sinter::nn
