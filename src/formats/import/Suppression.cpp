// Non-maximum suppression: a loop over boxes, each of which suppresses others.

#include "formats/import/Suppression.h"

#include "formats/import/Building.h"
#include "formats/import/Regions.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

/// Element \p i of the last dimension, which becomes 1.
static Value sliceLast(GraphBuilder &builder, Value value, Value i) {
  const int64_t rank = builder.rank(value);
  Ints sizes(builder.shape(value));
  sizes.back() = 1;
  if (!ShapedType::isDynamicShape(sizes)) {
    Values starts(rank - 1, builder.scalar(builder.i64(), 0));
    starts.push_back(i);
    return builder.op<stablehlo::DynamicSliceOp>(value, ValueRange(starts),
                                                 ArrayRef<int64_t>(sizes));
  }
  Dims starts(rank, Dim(0)), limits = builder.dims(value);
  const Value start = builder.reshape(i, ArrayRef<int64_t>{1});
  starts.back() = Dim(ShapedType::kDynamic, start);
  limits.back() =
      Dim(ShapedType::kDynamic,
          builder.op<stablehlo::AddOp>(start, builder.integers({1})));
  if (!value || builder.failed())
    return {};
  return builder.typed<stablehlo::RealDynamicSliceOp>(
      builder.tensorType(sizes, builder.element(value)), value,
      builder.extents(starts), builder.extents(limits),
      builder.integers(Ints(rank, 1)));
}

/// One iteration: removes from \p remaining the boxes after box \p i that it
/// suppresses, if it is not suppressed itself.
static Value suppressAfter(GraphBuilder &builder, const BoxEdges &boxes,
                           Value i, Value remaining, StrikeRule strikes) {
  BoxEdges one;
  for (int d : {0, 1}) {
    one.low[d] = sliceLast(builder, boxes.low[d], i);
    one.high[d] = sliceLast(builder, boxes.high[d], i);
  }
  const int64_t last = builder.rank(remaining) - 1;
  Value after = builder.compare(
      iota(builder, builder.dims(remaining), last, builder.i64()), i,
      ComparisonDirection::GT);
  Value struck = builder.binary<stablehlo::AndOp>(
      builder.binary<stablehlo::AndOp>(strikes(one, boxes),
                                       sliceLast(builder, remaining, i)),
      after);
  return builder.op<stablehlo::AndOp>(remaining,
                                      builder.op<stablehlo::NotOp>(struck));
}

/// One more than the last index of a box that is left in any group.
static Value lastRemaining(GraphBuilder &builder, Value remaining) {
  Dims sizes = builder.dims(remaining);
  const auto rank = static_cast<int64_t>(sizes.size());
  Value count = builder.binary<stablehlo::AddOp>(
      iota(builder, sizes, rank - 1, builder.i64()),
      builder.scalar(builder.i64(), 1));
  Value counted =
      select(builder, remaining, count, builder.scalar(builder.i64(), 0));
  return builder.reduce<stablehlo::MaxOp>(
      counted, llvm::to_vector(llvm::seq<int64_t>(0, rank)), 0, false);
}

Value suppress(GraphBuilder &builder, const BoxEdges &boxes, Value remaining,
               StrikeRule strikes) {
  if (!remaining || !boxes.low[0] || !boxes.low[1] || !boxes.high[0] ||
      !boxes.high[1])
    return {};
  // The loop's state: a counter, and the boxes that are left.
  Value end = lastRemaining(builder, remaining);
  return whileLoop(
      builder, ValueRange{builder.scalar(builder.i64(), 0), remaining},
      [&](ValueRange states) {
        return builder.compare(states[0], end, ComparisonDirection::LT);
      },
      [&](ValueRange states) -> Values {
        return {builder.op<stablehlo::AddOp>(states[0],
                                             builder.scalar(builder.i64(), 1)),
                suppressAfter(builder, boxes, states[0], states[1], strikes)};
      },
      1);
}

} // namespace sinter::formats
