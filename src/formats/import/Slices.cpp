// Slices whose bounds may be known only at run time.

#include "formats/import/Slices.h"

#include <tuple>

using namespace mlir;

namespace sinter::formats {

/// Bounds beyond this mean the end, whatever the size is.
static constexpr int64_t far = int64_t(1) << 30;

std::vector<SliceBound> sliceBounds(GraphBuilder &builder, Value list) {
  std::vector<SliceBound> bounds;
  const int64_t count = builder.size(list, 0);
  Elements elements(count);
  if (auto known = builder.knownElements(list))
    elements = *known;
  else if (auto integers = builder.knownIntegers(list))
    for (auto [element, value] : llvm::zip_equal(elements, *integers))
      element = Element::integer(value);
  for (int64_t i = 0; i < count; ++i)
    bounds.push_back({elements[i], list, i});
  return bounds;
}

/// A bound (negative: from the end), clamped to [0, size], or with \p reversed
/// to [-1, size - 1].
static Value clampBound(GraphBuilder &builder, const SliceBound &bound,
                        Dim size, bool reversed) {
  Value extent = size.isStatic() ? builder.integers({size.size}) : size.extent;
  Value least = builder.integers({reversed ? -1 : 0});
  Value most =
      reversed
          ? builder.op<stablehlo::SubtractOp>(extent, builder.integers({1}))
          : extent;
  if (bound.element.isInteger()) {
    int64_t value = bound.element.value;
    if (value < -far || (value == 0 && !reversed))
      return least;
    if (value > far || (value == -1 && reversed))
      return most;
    Value number = builder.integers({value});
    return value < 0 ? builder.op<stablehlo::MaxOp>(
                           builder.op<stablehlo::AddOp>(extent, number), least)
                     : builder.op<stablehlo::MinOp>(number, most);
  }
  Value number = bound.list;
  if (builder.shape(number) != ArrayRef<int64_t>(1))
    number = builder.sliceAxis(number, 0, bound.index, bound.index + 1);
  number = builder.cast(number, builder.i64());
  if (bound.element.kind != Element::Symbol) {
    Value negative = builder.compare(number, builder.integers({0}),
                                     stablehlo::ComparisonDirection::LT);
    number = builder.op<stablehlo::SelectOp>(
        negative, builder.op<stablehlo::AddOp>(number, extent), number);
    number = builder.op<stablehlo::MaxOp>(number, least);
  }
  return builder.op<stablehlo::MinOp>(number, most);
}

namespace {
/// One axis of a slice with known bounds, start and limit inside.
struct Range {
  int64_t start = 0, limit = 0, stride = 1;
};
} // namespace

/// ONNX's rule for bounds outside [0, size), for either direction.
static Range clampRange(int64_t start, int64_t end, int64_t step,
                        int64_t size) {
  auto fromEnd = [&](int64_t at) { return at < 0 ? at + size : at; };
  Range range;
  if (step > 0) {
    range.start = std::clamp<int64_t>(fromEnd(start), 0, size);
    range.limit = std::clamp<int64_t>(fromEnd(end), range.start, size);
    range.stride = step;
    return range;
  }
  // Of the reversed dimension, element i is element size - 1 - i.
  int64_t first = std::clamp<int64_t>(fromEnd(start), -1, size - 1);
  int64_t last = std::clamp<int64_t>(fromEnd(end), -1, size - 1);
  range.start = size - 1 - first;
  range.limit = std::max(range.start, size - 1 - last);
  range.stride = step == std::numeric_limits<int64_t>::min()
                     ? std::numeric_limits<int64_t>::max()
                     : -step;
  return range;
}

/// Where a slice with a negative step begins and ends in the reversed
/// dimension, whose element i is element size - 1 - i.
static std::pair<Value, Value> dynamicReversedRange(GraphBuilder &builder,
                                                    const SliceBound &start,
                                                    const SliceBound &end,
                                                    Dim size) {
  Value extent = size.isStatic() ? builder.integers({size.size}) : size.extent;
  Value last = builder.op<stablehlo::SubtractOp>(extent, builder.integers({1}));
  Value from = builder.op<stablehlo::SubtractOp>(
      last, clampBound(builder, start, size, true));
  Value to = builder.op<stablehlo::SubtractOp>(
      last, clampBound(builder, end, size, true));
  return {from, builder.op<stablehlo::MaxOp>(to, from)};
}

void Slicer::along(int64_t axis, const SliceBound &start, const SliceBound &end,
                   int64_t step) {
  const int64_t size = builder.size(data, axis);
  if (step < 0)
    reversed.push_back(axis);
  if (!ShapedType::isDynamic(size) && start.element.isInteger() &&
      end.element.isInteger()) {
    Range range =
        clampRange(start.element.value, end.element.value, step, size);
    starts[axis] = first[axis] = range.start;
    limits[axis] = limit[axis] = range.limit;
    strides[axis] = range.stride;
    sizes[axis] = range.limit == range.start
                      ? 0
                      : (range.limit - range.start - 1) / range.stride + 1;
    return;
  }
  // The largest number of steps that can be taken back.
  strides[axis] =
      step < 0 ? -std::max(step, -std::numeric_limits<int64_t>::max()) : step;
  const bool isAll = end.element.isInteger() &&
                     (step == 1 ? start.element == Element::integer(0) &&
                                      end.element.value > far
                      : step == -1 ? start.element == Element::integer(-1) &&
                                         end.element.value < -far
                                   : false);
  if (!isAll)
    alongDynamic(axis, start, end, step < 0);
}

void Slicer::alongDynamic(int64_t axis, const SliceBound &start,
                          const SliceBound &end, bool isReversed) {
  isKnown = false;
  const Dim whole = limits[axis];
  Value from, to;
  if (isReversed) {
    std::tie(from, to) = dynamicReversedRange(builder, start, end, whole);
  } else {
    from = clampBound(builder, start, whole, false);
    to = builder.op<stablehlo::MaxOp>(clampBound(builder, end, whole, false),
                                      from);
  }
  starts[axis] = Dim(ShapedType::kDynamic, from);
  limits[axis] = Dim(ShapedType::kDynamic, to);
  sizes[axis] = ShapedType::kDynamic;
}

Value Slicer::finish() {
  if (!reversed.empty())
    data = builder.op<stablehlo::ReverseOp>(data, ArrayRef<int64_t>(reversed));
  if (isKnown && !ShapedType::isDynamicShape(limit))
    return builder.op<stablehlo::SliceOp>(data, ArrayRef<int64_t>(first),
                                          ArrayRef<int64_t>(limit),
                                          ArrayRef<int64_t>(strides));
  if (!data)
    return {};
  return builder.typed<stablehlo::RealDynamicSliceOp>(
      builder.tensorType(sizes, builder.element(data)), data,
      builder.extents(starts), builder.extents(limits),
      builder.integers(strides));
}

} // namespace sinter::formats
