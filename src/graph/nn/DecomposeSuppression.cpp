// Non-maximum suppression: the boxes of each class are sorted by score; a loop
// over them, best first, removes the boxes that overlap a kept one.

#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::nn {

namespace {
/// The edges of boxes along both dimensions, each a tensor with one value per
/// box.
struct Edges {
  Value low[2], high[2];
};
} // namespace

/// The edges of \p boxes [B, C, N, 4]: two opposite corners in any order, or a
/// centre and extents.
static Edges edgesOf(TensorBuilder &emit, Value boxes, bool isCentred) {
  Sizes sizes = emit.sizes(boxes).take_front(3);
  auto part = [&](int64_t i) {
    return emit.reshape(emit.slice(boxes, 3, i, i + 1), sizes);
  };
  Edges edges;
  for (int64_t d = 0; d < 2; ++d) {
    Value first = part(d), second = part(d + 2);
    if (isCentred) {
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

/// Whether boxes overlap by more than the threshold: intersection / union, for
/// boxes whose union is not empty.
static Value overlap(TensorBuilder &emit, const Edges &a, const Edges &b,
                     Value threshold) {
  Value common;
  for (int64_t d = 0; d < 2; ++d) {
    Value along = emit.max(
        emit.sub(emit.min(a.high[d], b.high[d]), emit.max(a.low[d], b.low[d])),
        0.0);
    common = common ? emit.mul(common, along) : along;
  }
  auto area = [&](const Edges &boxes) {
    return emit.mul(emit.sub(boxes.high[0], boxes.low[0]),
                    emit.sub(boxes.high[1], boxes.low[1]));
  };
  Value joined = emit.sub(emit.add(area(a), area(b)), common);
  Value share = emit.div(common, joined);
  return emit.make<stablehlo::AndOp>(
      emit.compare(ComparisonDirection::GT, share,
                   emit.spreadLike(threshold, share)),
      emit.compare(ComparisonDirection::GT, joined, 0.0));
}

/// \p standing without the boxes after box \p i that it removes, if it is kept
/// itself.
static Value struckBy(TensorBuilder &emit, const Edges &edges, Value i,
                      Value standing, Value threshold) {
  Sizes sizes = emit.sizes(standing);
  auto everywhere = [&](Value x) {
    return emit.broadcast(emit.take(x, i, 2), {0, 1}, sizes);
  };
  Edges one;
  for (int d : {0, 1}) {
    one.low[d] = everywhere(edges.low[d]);
    one.high[d] = everywhere(edges.high[d]);
  }
  Value places = emit.iota(sizes, 2, emit.integerType(64));
  Value isAfter =
      emit.compare(ComparisonDirection::GT, places, emit.spreadLike(i, places));
  Value struck = emit.make<stablehlo::AndOp>(
      overlap(emit, one, edges, threshold), everywhere(standing));
  struck = emit.make<stablehlo::AndOp>(struck, isAfter);
  return emit.make<stablehlo::AndOp>(standing,
                                     emit.make<stablehlo::NotOp>(struck));
}

/// The boxes of \p standing that are left in the end.
static Value suppress(TensorBuilder &emit, const Edges &edges, Value standing,
                      Value threshold) {
  OpBuilder &builder = emit.builder;
  Type index = emit.integerType(64);
  Value count = emit.number(emit.sizes(standing)[2], index);
  SmallVector<Value> carried = {emit.scalar(0, index), standing};
  SmallVector<Type> types = {carried[0].getType(), carried[1].getType()};
  auto loop = builder.create<stablehlo::WhileOp>(emit.location, types, carried);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(types.size(), emit.location);
  Block *condition = builder.createBlock(&loop.getCond(), {}, types, locations);
  builder.create<stablehlo::ReturnOp>(
      emit.location,
      emit.compare(ComparisonDirection::LT, condition->getArgument(0), count));
  Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
  // Values of the body cannot be used outside.
  TensorBuilder inner(builder, emit.location);
  Value i = body->getArgument(0);
  Value left = struckBy(inner, edges, i, body->getArgument(1), threshold);
  builder.create<stablehlo::ReturnOp>(emit.location,
                                      ValueRange{inner.add(i, 1.0), left});
  return loop.getResult(1);
}

/// The rows [batch, class, position] of the kept boxes.
static Value rowsOfStanding(TensorBuilder &emit, Value standing) {
  Value places = emit.make<NonZeroOp>(
      RankedTensorType::get({3, ShapedType::kDynamic}, emit.integerType(64)),
      standing);
  return emit.transpose(places, {1, 0});
}

/// The rows [batch, class, box] of the kept boxes: \p order is the box at each
/// position.
static Value listStanding(TensorBuilder &emit, Value standing, Value order) {
  Value rows = rowsOfStanding(emit, standing);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      emit.builder.getContext(), {}, {0, 1, 2}, {}, {}, {0, 1, 2}, 1);
  Value boxes = emit.make<stablehlo::GatherOp>(order, rows, numbers,
                                               ArrayRef<int64_t>{1, 1, 1});
  return emit.concatenate(
      {emit.slice(rows, 1, 0, 2), emit.reshape(boxes, {Size::of(rows, 0), 1})},
      1);
}

FailureOr<SmallVector<Value>>
NonMaxSuppressionOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Sizes sizes = emit.sizes(getScores());
  // Without boxes there is nothing to gather, and no row.
  if (llvm::is_contained(sizes, Size(0)))
    return SmallVector<Value>{rowsOfStanding(
        emit, emit.compare(ComparisonDirection::EQ, getScores(), getScores()))};
  auto [score, order] = takeTop(emit, getScores(), 2, sizes[2], true);
  Sizes all = sizes;
  all.push_back(4);
  Value boxes = emit.make<TakeAlongOp>(
      emit.broadcast(getBoxes(), {0, 2, 3}, all),
      emit.broadcast(order, {0, 1, 2}, all), uint64_t(2));
  Value standing = getThreshold()
                       ? emit.compare(ComparisonDirection::GT, score,
                                      emit.spreadLike(getThreshold(), score))
                       : emit.compare(ComparisonDirection::EQ, score, score);
  standing = suppress(emit, edgesOf(emit, boxes, getCentred()), standing,
                      getOverlap());
  Value rank = emit.make<CumulativeSumOp>(
      emit.convert(standing, emit.integerType(64)), uint64_t(2), false, false);
  standing = emit.make<stablehlo::AndOp>(
      standing, emit.compare(ComparisonDirection::LE, rank,
                             emit.spreadLike(getMost(), rank)));
  return SmallVector<Value>{listStanding(emit, standing, order)};
}

} // namespace sinter::nn
