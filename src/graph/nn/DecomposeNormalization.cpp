// Pooling and normalisation, built from stablehlo. Floats narrower than f32 are
// computed in f32, so that no intermediate sum overflows.

#include "graph/Quantization.h"
#include "graph/nn/SearchOrder.h"
#include "graph/nn/Wide.h"

#include <cmath>

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;
using stablehlo::WindowDimension;

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// The window dimensions over [N, C, spatial...].
template <typename Op> static SmallVector<WindowDimension> windowOf(Op op) {
  SmallVector<WindowDimension> window(2);
  for (size_t i = 0; i < op.getWindow().size(); ++i) {
    WindowDimension &dimension = window.emplace_back();
    dimension.size = op.getWindow()[i];
    dimension.stride = op.getStrides()[i];
    dimension.windowDilation = op.getDilations()[i];
    dimension.paddingLow = op.getPaddingLow()[i];
    dimension.paddingHigh = op.getPaddingHigh()[i];
  }
  return window;
}

/// The least element of a quantised type: storage elements of one scale are
/// ordered as their real values.
static Value lowestOf(TensorBuilder &emit, quant::QuantizedType type) {
  IntegerType storage = storageOf(type);
  auto least = DenseElementsAttr::get(
      RankedTensorType::get({}, storage),
      APInt(storage.getWidth(), boundsOf(type).least, /*isSigned=*/true));
  return emit.make<stablehlo::ConstantOp>(RankedTensorType::get({}, type),
                                          least);
}

FailureOr<SmallVector<Value>> MaxPoolOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type =
      dyn_cast_or_null<quant::UniformQuantizedType>(quantizedOf(x.getType()));
  if (type && type == quantizedOf(getType()))
    return SmallVector<Value>{emit.reduceWindow<stablehlo::MaxOp>(
        x, lowestOf(emit, type), windowOf(*this))};
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  return SmallVector<Value>{emit.reduceWindow<stablehlo::MaxOp>(
      x, emit.lowest(tensorOf(x).getElementType()), windowOf(*this))};
}

/// How many elements count in each window along one spatial dimension.
static SmallVector<double> countsAlong(const WindowDimension &window,
                                       int64_t size, int64_t places,
                                       bool countPadding, int64_t ceilPadding) {
  int64_t first = countPadding ? -window.paddingLow : 0;
  int64_t last = countPadding ? size + window.paddingHigh - ceilPadding : size;
  SmallVector<double> counts;
  for (int64_t place = 0; place < places; ++place) {
    int64_t count = 0;
    for (int64_t i = 0; i < window.size; ++i) {
      int64_t at =
          place * window.stride - window.paddingLow + i * window.windowDilation;
      count += at >= first && at < last;
    }
    counts.push_back(count);
  }
  return counts;
}

/// The same for a dynamic size: sums ones in the same windows.
static Value dynamicCountsAlong(TensorBuilder &emit,
                                const WindowDimension &window, const Size &size,
                                bool countPadding, int64_t ceilPadding,
                                Type element) {
  WindowDimension line = window;
  Size counted = size;
  if (countPadding) {
    counted =
        emit.sum(size, window.paddingLow + window.paddingHigh - ceilPadding);
    line.paddingLow = 0;
    line.paddingHigh = ceilPadding;
  }
  return emit.reduceWindow<stablehlo::AddOp>(
      emit.splat(1, Sizes{counted}, element), emit.scalar(0, element), {line});
}

FailureOr<SmallVector<Value>> AveragePoolOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  Type element = type.getElementType();
  SmallVector<WindowDimension> window = windowOf(*this);
  Value result =
      emit.reduceWindow<stablehlo::AddOp>(x, emit.scalar(0, element), window);
  // The element count is the product over the dimensions; where all windows
  // have the same, it is a constant divisor.
  double common = 1;
  SmallVector<Value> varying;
  Sizes sizes = emit.sizes(result);
  for (size_t i = 2; i < window.size(); ++i) {
    int64_t ceil = getCeilPadding().empty() ? 0 : getCeilPadding()[i - 2];
    const bool isWhole = getCountPadding() ? ceil == 0
                                           : window[i].paddingLow == 0 &&
                                                 window[i].paddingHigh == 0;
    Value along;
    if (isWhole) {
      // All windows count all of their elements.
      common *= static_cast<double>(window[i].size);
      continue;
    }
    if (!type.isDynamicDim(i)) {
      SmallVector<double> counts =
          countsAlong(window[i], type.getDimSize(i),
                      tensorOf(result).getDimSize(i), getCountPadding(), ceil);
      if (llvm::all_equal(counts)) {
        common *= counts.empty() ? 1 : counts.front();
        continue;
      }
      along = emit.floats(counts, element);
    } else {
      along = dynamicCountsAlong(emit, window[i], Size::of(x, i),
                                 getCountPadding(), ceil, element);
    }
    varying.push_back(emit.broadcast(along, {static_cast<int64_t>(i)}, sizes));
  }
  if (varying.empty())
    return SmallVector<Value>{emit.div(result, common)};
  Value divisor = emit.splat(common, sizes, element);
  for (Value each : varying)
    divisor = emit.mul(divisor, each);
  return SmallVector<Value>{emit.div(result, divisor)};
}

/// |x|^p and its inverse, without a power for simple p.
static Value powerOf(TensorBuilder &emit, Value x, int64_t p) {
  if (p == 1)
    return emit.abs(x);
  if (p == 2)
    return emit.mul(x, x);
  return emit.make<stablehlo::PowOp>(emit.abs(x), emit.splatLike(p, x));
}
static Value rootOf(TensorBuilder &emit, Value x, int64_t p) {
  if (p == 1)
    return x;
  if (p == 2)
    return emit.sqrt(x);
  return emit.make<stablehlo::PowOp>(x, emit.splatLike(1.0 / p, x));
}

FailureOr<SmallVector<Value>> LpPoolOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value powers = powerOf(emit, getOperand(), getP());
  Value zero = emit.scalar(0, tensorOf(powers).getElementType());
  Value sum =
      emit.reduceWindow<stablehlo::AddOp>(powers, zero, windowOf(*this));
  return SmallVector<Value>{rootOf(emit, sum, getP())};
}

/// The index of each element in the flattened tensor, with row-major or
/// column-major spatial dimensions.
static Value flatIndices(TensorBuilder &emit, const Sizes &sizes,
                         bool columnMajor) {
  Type index = emit.integerType(64);
  int64_t rank = sizes.size();
  Sizes strides(rank, 1);
  for (int64_t i = rank - 2; i >= 0; --i)
    strides[i] = emit.product(strides[i + 1], sizes[i + 1]);
  if (columnMajor) {
    Size stride = 1;
    for (int64_t i = 2; i < rank; ++i) {
      strides[i] = stride;
      stride = emit.product(stride, sizes[i]);
    }
  }
  Value places;
  for (int64_t i = 0; i < rank; ++i) {
    Value step = emit.broadcast(emit.number(strides[i], index), {}, sizes);
    step = emit.mul(emit.iota(sizes, i, index), step);
    places = places ? emit.add(places, step) : step;
  }
  return places;
}

FailureOr<SmallVector<Value>> MaxPoolIndicesOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  Sizes sizes = emit.sizes(x);
  Value places = flatIndices(emit, sizes, getColumnMajor());
  // The first of equal elements in row-major order wins, so that order is
  // reduced together with the indices.
  Value order = flatIndices(emit, sizes, /*columnMajor=*/false);
  Type index = emit.integerType(64);
  SmallVector<Value> inits = {emit.lowest(type.getElementType()),
                              emit.greatest(index), emit.scalar(0, index)};
  auto better = [](TensorBuilder &emit, ValueRange a) {
    const auto [wins, equal] =
        SearchOrder::of(emit, a[0], a[3], /*greatest=*/true);
    Value before = emit.compare(Direction::LT, a[1], a[4]);
    Value first = emit.make<stablehlo::OrOp>(
        wins, emit.make<stablehlo::AndOp>(equal, before));
    SmallVector<Value> results;
    for (unsigned i = 0; i < 3; ++i)
      results.push_back(emit.select(first, a[i], a[i + 3]));
    return results;
  };
  return SmallVector<Value>{emit.reduceWindow(
      ValueRange{x, order, places}, inits, windowOf(*this), better)[2]};
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> LrnOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  // No channel has more neighbours on a side than there are other channels; a
  // window is no longer than that or than this.
  constexpr uint64_t longestWindow = 1 << 16;
  const bool isDynamic = type.isDynamicDim(1);
  if (isDynamic && getSize() > longestWindow)
    return failure();
  uint64_t neighbours =
      isDynamic ? longestWindow : std::max<int64_t>(type.getDimSize(1), 1) - 1;
  uint64_t before = (getSize() - 1) / 2, after = getSize() - 1 - before;
  SmallVector<WindowDimension> window(type.getRank());
  window[1].paddingLow = std::min(before, neighbours);
  window[1].paddingHigh = std::min(after, neighbours);
  window[1].size = window[1].paddingLow + 1 + window[1].paddingHigh;
  Value sum = emit.reduceWindow<stablehlo::AddOp>(
      emit.mul(x, x), emit.scalar(0, type.getElementType()), window);
  double factor = getAlpha().convertToDouble() / getSize();
  Value base = emit.add(emit.mul(sum, factor), getBias().convertToDouble());
  Value power = emit.make<stablehlo::PowOp>(
      base, emit.splatLike(getBeta().convertToDouble(), base));
  return SmallVector<Value>{emit.div(x, power)};
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  Value powers = emit.exp(emit.sub(x, emit.maxKeep(x, getAxes())));
  return SmallVector<Value>{emit.div(powers, emit.sumKeep(powers, getAxes()))};
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  Value shifted = emit.sub(x, emit.maxKeep(x, getAxes()));
  Value sum = emit.sum(emit.exp(shifted), getAxes());
  return SmallVector<Value>{
      emit.sub(shifted, emit.restore(emit.log(sum), getAxes(), emit.sizes(x)))};
}

static SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  auto type = tensorOf(getOperand());
  Sizes shape = emit.sizes(getOperand());
  Type element = type.getElementType();
  SmallVector<int64_t> axes = axesFrom(getAxis(), type.getRank());
  Size count = emit.count(shape, axes);
  Value x = emit.convert(getOperand(), getComputeType());
  Value mean = emit.div(emit.sum(x, axes), count);
  Value centred = emit.sub(x, emit.restore(mean, axes, shape));
  Value variance = emit.div(emit.sum(emit.mul(centred, centred), axes), count);
  Value inverse = emit.make<stablehlo::RsqrtOp>(
      emit.add(variance, getEpsilon().convertToDouble()));
  Value normal = emit.mul(centred, emit.restore(inverse, axes, shape));
  Value result = emit.mul(emit.convert(normal, element),
                          emit.broadcastTrailing(getScale(), shape));
  if (getBias())
    result = emit.add(result, emit.broadcastTrailing(getBias(), shape));
  Sizes kept = shape;
  std::fill(kept.begin() + getAxis(), kept.end(), 1);
  return SmallVector<Value>{result, emit.reshape(mean, kept),
                            emit.reshape(inverse, kept)};
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  auto type = tensorOf(getOperand());
  SmallVector<int64_t> axes = axesFrom(getAxis(), type.getRank());
  Value x = emit.convert(getOperand(), getComputeType());
  Value mean = emit.meanKeep(emit.mul(x, x), axes);
  Value inverse = emit.make<stablehlo::RsqrtOp>(
      emit.add(mean, getEpsilon().convertToDouble()));
  Value normal = emit.convert(emit.mul(x, inverse), type.getElementType());
  return SmallVector<Value>{
      emit.mul(normal, emit.broadcastTrailing(getScale(), emit.sizes(x)))};
}

FailureOr<SmallVector<Value>> GroupNormOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  Sizes shape = emit.sizes(x);
  int64_t groups = getGroups();
  Size inside = emit.quotient(shape[1], groups);
  for (const Size &size : shape.drop_front(2))
    inside = emit.product(inside, size);
  Value grouped = emit.reshape(x, {shape[0], groups, inside});
  Value centred = emit.sub(grouped, emit.meanKeep(grouped, {2}));
  Value variance = emit.meanKeep(emit.mul(centred, centred), {2});
  Value inverse = emit.make<stablehlo::RsqrtOp>(
      emit.add(variance, getEpsilon().convertToDouble()));
  Value normal = emit.reshape(emit.mul(centred, inverse), shape);
  Value scaled = emit.mul(normal, emit.broadcast(getScale(), {1}, shape));
  return SmallVector<Value>{
      emit.add(scaled, emit.broadcast(getBias(), {1}, shape))};
}

FailureOr<SmallVector<Value>> LpNormalizeOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  SmallVector<int64_t> axes = {static_cast<int64_t>(getAxis())};
  Value norm = rootOf(emit, emit.sum(powerOf(emit, x, getP()), axes), getP());
  // Zeros are divided by 1.
  norm =
      emit.select(emit.compare(stablehlo::ComparisonDirection::EQ, norm, 0.0),
                  emit.splatLike(1, norm), norm);
  return SmallVector<Value>{
      emit.div(x, emit.restore(norm, axes, emit.sizes(x)))};
}

FailureOr<SmallVector<Value>> MeanVarNormOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  auto type = tensorOf(x);
  int64_t feature = getFeatureIndex();
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != feature)
      axes.push_back(i);
  Size count = emit.count(emit.sizes(x), axes);
  Value mean = emit.div(emit.sum(x, axes), count);
  Value centred = emit.sub(x, emit.restore(mean, axes, emit.sizes(x)));
  Value variance = emit.div(emit.sum(emit.mul(centred, centred), axes), count);
  Type statistics = tensorOf(getRunningMean()).getElementType();
  Value kept = variance;
  if (getUnbiased())
    kept = emit.div(
        emit.mul(variance, count),
        emit.max(emit.spreadLike(
                     emit.sub(emit.number(count, type.getElementType()), 1.0),
                     variance),
                 1.0));
  mean = emit.convert(mean, statistics);
  variance = emit.convert(variance, statistics);
  kept = emit.convert(kept, statistics);
  double momentum = getMomentum().convertToDouble();
  auto moved = [&](Value running, Value batch) {
    return emit.add(emit.mul(running, momentum), emit.mul(batch, 1 - momentum));
  };
  return SmallVector<Value>{mean, variance, moved(getRunningMean(), mean),
                            moved(getRunningVariance(), kept)};
}

} // namespace sinter::nn
