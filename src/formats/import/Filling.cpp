// Tensors from a few scalars: ranges, fills, tiles.

#include "formats/import/Filling.h"

using namespace mlir;

namespace sinter::formats {

/// How many elements a range of known bounds has; fails for too many.
static std::optional<int64_t> knownLength(GraphBuilder &builder,
                                          const Tensor &start,
                                          const Tensor &limit,
                                          const Tensor &delta) {
  double count;
  if (isInteger(delta.type())) {
    int64_t step = delta.toInteger(0), from = start.toInteger(0),
            to = limit.toInteger(0);
    if (step == 0)
      return builder.fail("the step is zero");
    __int128 distance = static_cast<__int128>(to) - from;
    __int128 whole = (distance + step + (step > 0 ? -1 : 1)) / step;
    count = static_cast<double>(whole);
  } else {
    count =
        std::ceil((limit.toDouble(0) - start.toDouble(0)) / delta.toDouble(0));
  }
  if (!(count < 1e9))
    return builder.fail("has too many elements");
  return static_cast<int64_t>(std::max(count, 0.0));
}

/// How many elements a range has, max(ceil((limit - start) / delta), 0), as
/// tensor<1xi64>.
static Value dynamicLength(GraphBuilder &builder, Value start, Value limit,
                           Value delta) {
  Value distance = builder.op<stablehlo::SubtractOp>(limit, start);
  Value count = distance;
  if (builder.isFloat(start)) {
    count = builder.op<stablehlo::CeilOp>(
        builder.op<stablehlo::DivOp>(distance, delta));
  } else if (builder.knownIntegers(delta) != Ints{1}) {
    // Division rounds towards zero, so the rounding term is added first.
    Value more = builder.op<stablehlo::SubtractOp>(
        delta, builder.op<stablehlo::SignOp>(delta));
    count = builder.op<stablehlo::DivOp>(
        builder.op<stablehlo::AddOp>(distance, more), delta);
  }
  count = builder.cast(count, builder.i64());
  auto known = builder.knownElements(count);
  bool isSize = known && known->front().kind == Element::Symbol;
  if (!isSize)
    count =
        builder.op<stablehlo::MaxOp>(count, builder.scalar(builder.i64(), 0));
  return builder.reshape(count, ArrayRef<int64_t>{1});
}

Value range(GraphBuilder &builder, Value start, Value limit, Value delta) {
  Type element = builder.element(start);
  Type wide = element.isF16() || element.isBF16() ? builder.f32() : element;
  start = builder.cast(start, wide);
  limit = builder.cast(limit, wide);
  delta = builder.cast(delta, wide);
  auto first = builder.knownTensor(start), last = builder.knownTensor(limit),
       step = builder.knownTensor(delta);
  auto dimension = uint64_t(0);
  Value counter;
  if (first && last && step) {
    auto length = knownLength(builder, *first, *last, *step);
    if (!length)
      return {};
    counter = builder.typed<stablehlo::IotaOp>(
        builder.tensorType({*length}, wide), dimension);
  } else {
    counter = builder.typed<stablehlo::DynamicIotaOp>(
        builder.tensorType({ShapedType::kDynamic}, wide),
        dynamicLength(builder, start, limit, delta), dimension);
    if (!step)
      builder.require(builder.compare(delta,
                                      builder.scalar(builder.element(delta), 0),
                                      stablehlo::ComparisonDirection::NE));
  }
  bool isCount =
      !builder.isFloat(start) && builder.knownIntegers(delta) == Ints{1};
  if (!isCount)
    counter = builder.binary<stablehlo::MulOp>(counter, delta);
  if (!isCount || builder.knownIntegers(start) != Ints{0})
    counter = builder.binary<stablehlo::AddOp>(counter, start);
  return builder.cast(counter, element);
}

Value filled(GraphBuilder &builder, Value filler, Value shape) {
  if (!filler || !shape)
    return {};
  const int64_t rank = builder.size(shape, 0);
  if (ShapedType::isDynamic(rank))
    return builder.unknown("the number of dimensions is not known");
  constexpr int64_t mostDimensions = 1024;
  if (rank > mostDimensions)
    return builder.unsupported("a tensor of " + llvm::Twine(rank) +
                               " dimensions");
  Ints sizes(rank, ShapedType::kDynamic);
  if (auto known = builder.knownElements(shape))
    for (auto [size, element] : llvm::zip_equal(sizes, *known)) {
      if (!element.isInteger())
        continue;
      if (element.value < 0)
        return builder.fail("a size is negative");
      size = element.value;
    }
  auto type = builder.tensorType(sizes, builder.element(filler));
  if (type.hasStaticShape())
    return builder.typed<stablehlo::BroadcastInDimOp>(type, filler,
                                                      ArrayRef<int64_t>());
  return builder.typed<stablehlo::DynamicBroadcastInDimOp>(
      type, filler, shape, builder.builder().getDenseI64ArrayAttr({}),
      DenseI64ArrayAttr(), DenseI64ArrayAttr());
}

Value tile(GraphBuilder &builder, Value x, ArrayRef<Dim> repeats) {
  if (!x)
    return {};
  // Each repeated dimension is broadcast along a new one before it.
  Dims expanded, merged;
  Ints dimensions;
  for (auto [repeat, size] : llvm::zip_equal(repeats, builder.dims(x))) {
    if (repeat.size != 1)
      expanded.push_back(repeat);
    dimensions.push_back(expanded.size());
    expanded.push_back(size);
    merged.push_back(builder.product({repeat, size}));
  }
  return builder.reshape(builder.broadcastInDim(x, expanded, dimensions),
                         merged);
}

} // namespace sinter::formats
