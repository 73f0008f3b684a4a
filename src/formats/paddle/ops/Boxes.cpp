#include "formats/paddle/ops/Boxes.h"

#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

BoxEdges edgesOf(OperatorContext &op, Value boxes) {
  const int64_t last = op.rank(boxes) - 1;
  auto part = [&](int64_t i) {
    return op.squeeze(op.sliceAxis(boxes, last, i, i + 1), {last});
  };
  return {{part(0), part(1)}, {part(2), part(3)}};
}

Value boxAreas(BoxArithmetic &a, const BoxEdges &boxes, double more) {
  Value area;
  for (int d : {0, 1}) {
    Value extent = a.sub(boxes.high[d], boxes.low[d]);
    Value side =
        select(a.op, a.op.compare(extent, a.number(0), ComparisonDirection::LT),
               a.number(0), a.add(extent, more));
    area = area ? a.mul(area, side) : side;
  }
  return area;
}

Value jaccard(BoxArithmetic &a, const BoxEdges &one, const BoxEdges &all,
              double more) {
  Value common, isDisjoint;
  for (int d : {0, 1}) {
    Value extent =
        a.sub(a.min(one.high[d], all.high[d]), a.max(one.low[d], all.low[d]));
    common = common ? a.mul(common, a.add(extent, more)) : a.add(extent, more);
    Value before = a.op.compare(extent, a.number(0), ComparisonDirection::LT);
    isDisjoint =
        isDisjoint ? a.op.binary<stablehlo::OrOp>(isDisjoint, before) : before;
  }
  Value unionArea =
      a.sub(a.add(boxAreas(a, one, more), boxAreas(a, all, more)), common);
  return select(a.op, isDisjoint, a.number(0), a.div(common, unionArea));
}

Value strikeOverlaps(BoxArithmetic &a, const BoxEdges &boxes, Value remaining,
                     double threshold, double eta, double more) {
  if (eta < 1 && threshold > 0.5)
    return a.op.unsupported(
        "a threshold that gets less with each box (an eta below 1)");
  // A box with a NaN overlap is suppressed, too.
  return suppress(
      a.op, boxes, remaining, [&](const BoxEdges &one, const BoxEdges &all) {
        return a.op.op<stablehlo::NotOp>(
            a.op.compare(jaccard(a, one, all, more), a.number(threshold),
                         ComparisonDirection::LE));
      });
}

Value imagesOf(OperatorContext &op, const Dim &count, Value counts) {
  Value ends = op.op<nn::CumulativeSumOp>(op.cast(counts, op.i64()),
                                          uint64_t(0), false, false);
  Value rows = iota(op, Dims{count}, 0, op.i64());
  Value isLater =
      op.compare(op.unsqueeze(rows, {1}), ends, ComparisonDirection::GE);
  return op.reduce<stablehlo::AddOp>(op.cast(isLater, op.i64()), {1}, 0, false);
}

bool waitsForSizes(const OperatorContext &op) {
  return op.importer.options.keepsUnknown && !op.expandsUnknown();
}

std::pair<Value, Value> sortAlong(OperatorContext &op, Value value,
                                  int64_t axis, int64_t most, bool isLargest) {
  if (!value)
    return {};
  const Dim size = op.dim(value, axis);
  if (size.isStatic()) {
    Operation *sorted = op.inferred<nn::TopKOp>(
        value,
        static_cast<uint64_t>(most < 0 ? size.size : std::min(most, size.size)),
        static_cast<uint64_t>(axis), isLargest);
    return sorted ? std::pair(sorted->getResult(0), sorted->getResult(1))
                  : std::pair(Value(), Value());
  }
  Value count = most < 0
                    ? size.extent
                    : op.op<stablehlo::MinOp>(size.extent, op.integers({most}));
  if (op.failed())
    return {};
  nn::TensorBuilder emit(op.builder(), op.location());
  return nn::takeTop(
      emit, value, axis,
      nn::Size::computed(emit.convert(count, emit.integerType(32))), isLargest);
}

Value rowsOf(OperatorContext &op, Value flags) {
  if (!flags)
    return {};
  return op.transpose(
      op.typed<nn::NonZeroOp>(
          op.tensorType({op.rank(flags), ShapedType::kDynamic}, op.i64()),
          flags),
      {1, 0});
}

Value countLast(OperatorContext &op, Value flags) {
  Type element = op.builder().getI32Type();
  return op.reduce<stablehlo::AddOp>(op.cast(flags, element),
                                     {op.rank(flags) - 1}, 0, false);
}

} // namespace sinter::paddle
