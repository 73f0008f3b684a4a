// A loop over boxes, in which each one strikes out others.

#include "formats/import/Suppression.h"

#include "formats/import/Building.h"
#include "formats/import/Regions.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

/// Element \p i of the last dimension, which stays.
static Value takeLast(GraphBuilder &builder, Value value, Value i) {
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

/// One step: strikes out of \p standing what is after box \p i and is struck by
/// it, if it stands itself.
static Value strikeFrom(GraphBuilder &builder, const BoxEdges &boxes, Value i,
                        Value standing, StrikeRule strikes) {
  BoxEdges one;
  for (int d : {0, 1}) {
    one.low[d] = takeLast(builder, boxes.low[d], i);
    one.high[d] = takeLast(builder, boxes.high[d], i);
  }
  const int64_t last = builder.rank(standing) - 1;
  Value after = builder.compare(
      iota(builder, builder.dims(standing), last, builder.i64()), i,
      ComparisonDirection::GT);
  Value struck = builder.binary<stablehlo::AndOp>(
      builder.binary<stablehlo::AndOp>(strikes(one, boxes),
                                       takeLast(builder, standing, i)),
      after);
  return builder.op<stablehlo::AndOp>(standing,
                                      builder.op<stablehlo::NotOp>(struck));
}

/// One more than the last place at which any group has a box that stands.
static Value lastStanding(GraphBuilder &builder, Value standing) {
  Dims sizes = builder.dims(standing);
  const auto rank = static_cast<int64_t>(sizes.size());
  Value count = builder.binary<stablehlo::AddOp>(
      iota(builder, sizes, rank - 1, builder.i64()),
      builder.scalar(builder.i64(), 1));
  Value counted =
      select(builder, standing, count, builder.scalar(builder.i64(), 0));
  return builder.reduce<stablehlo::MaxOp>(
      counted, llvm::to_vector(llvm::seq<int64_t>(0, rank)), 0, false);
}

Value suppress(GraphBuilder &builder, const BoxEdges &boxes, Value standing,
               StrikeRule strikes) {
  if (!standing || !boxes.low[0] || !boxes.low[1] || !boxes.high[0] ||
      !boxes.high[1])
    return {};
  // A counter, and what still stands.
  Value end = lastStanding(builder, standing);
  return whileLoop(
      builder, ValueRange{builder.scalar(builder.i64(), 0), standing},
      [&](ValueRange states) {
        return builder.compare(states[0], end, ComparisonDirection::LT);
      },
      [&](ValueRange states) -> Values {
        return {builder.op<stablehlo::AddOp>(states[0],
                                             builder.scalar(builder.i64(), 1)),
                strikeFrom(builder, boxes, states[0], states[1], strikes)};
      },
      1);
}

} // namespace sinter::formats
