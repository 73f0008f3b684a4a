// Resize, built from stablehlo. Every mode is separable: along one dimension
// each element of the result is a weighted sum of a few elements of the
// operand. Their indices and weights follow from the shapes. So a dimension
// costs one gather per tap.

#include "graph/nn/DynamicResize.h"
#include "graph/nn/Wide.h"

#include <cmath>

using namespace mlir;

namespace sinter::nn {

namespace {

/// The operand elements and weights of one element of the result along one
/// dimension.
struct Taps {
  SmallVector<std::pair<int64_t, double>> terms;
  bool outside = false; ///< takes the extrapolation value instead
};

/// One dimension of a resize, as ONNX defines it.
struct Axis {
  int64_t in, out;
  double scale;
  double roiStart, roiEnd;
};

} // namespace

/// The coordinate in the operand that element \p i of the result samples.
static double sampleAt(StringRef coordinates, const Axis &axis, int64_t i) {
  double x = i, in = axis.in, out = axis.out, scale = axis.scale;
  if (coordinates == "asymmetric")
    return x / scale;
  if (coordinates == "align_corners")
    return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (coordinates == "pytorch_half_pixel")
    return axis.out > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5) / scale;
  if (coordinates == "tf_crop_and_resize") {
    if (axis.out > 1)
      return axis.roiStart * (in - 1) +
             x * (axis.roiEnd - axis.roiStart) * (in - 1) / (out - 1);
    return 0.5 * (axis.roiStart + axis.roiEnd) * (in - 1);
  }
  if (coordinates == "half_pixel_symmetric") {
    // The result's true size may not be whole; the image stays centred.
    double adjustment = out / (scale * in);
    double centre = in / 2;
    return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  return (x + 0.5) / scale - 0.5;
}

static int64_t nearestOf(StringRef rounding, double x, bool shrinks) {
  if (rounding == "floor")
    return std::floor(x);
  if (rounding == "ceil")
    return std::ceil(x);
  if (rounding == "round_prefer_ceil")
    return std::floor(x + 0.5);
  if (rounding == "simple")
    return shrinks ? std::ceil(x) : static_cast<int64_t>(x);
  return std::ceil(x - 0.5);
}

/// The weight of an element at distance \p x: a triangle, or Keys' cubic
/// ("Cubic convolution interpolation", 1981) with coefficient \p a.
static double weightAt(StringRef mode, double x, double a) {
  x = std::fabs(x);
  if (mode == "linear")
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

static Taps tapsOf(ResizeOp op, const Axis &axis, int64_t i) {
  Taps taps;
  double x = sampleAt(op.getCoordinates(), axis, i);
  if (op.getCoordinates() == "tf_crop_and_resize" &&
      (x < 0 || x > axis.in - 1)) {
    taps.outside = true;
    taps.terms.push_back({0, 0});
    return taps;
  }
  auto inside = [&](int64_t at) {
    return std::clamp<int64_t>(at, 0, axis.in - 1);
  };
  if (op.getMode() == "nearest") {
    taps.terms.push_back(
        {inside(nearestOf(op.getNearest(), x, axis.scale < 1)), 1});
    return taps;
  }
  // When shrinking with antialiasing the kernel is stretched.
  double stretch = op.getAntialias() ? std::min(axis.scale, 1.0) : 1;
  double radius = (op.getMode() == "linear" ? 1 : 2) / stretch;
  double coefficient = op.getCubicCoefficient().convertToDouble();
  double total = 0;
  for (int64_t at = std::floor(x - radius) + 1; at < x + radius; ++at) {
    double weight = weightAt(op.getMode(), (at - x) * stretch, coefficient);
    if (weight == 0)
      continue;
    if ((at < 0 || at >= axis.in) && op.getExcludeOutside())
      continue;
    total += weight;
    int64_t source = inside(at);
    if (!taps.terms.empty() && taps.terms.back().first == source)
      taps.terms.back().second += weight;
    else
      taps.terms.push_back({source, weight});
  }
  if (op.getAntialias() || op.getExcludeOutside())
    for (auto &term : taps.terms)
      term.second /= total;
  if (taps.terms.empty())
    taps.terms.push_back({inside(std::llround(x)), 1});
  return taps;
}

/// Term \p k of \p count terms that add up to \p taps: the first tap is halved
/// repeatedly where there are fewer taps. (A weight of 0 would turn infinities
/// into NaN.)
static std::pair<int64_t, double> termOf(const Taps &taps, size_t k,
                                         size_t count) {
  const size_t missing = count - taps.terms.size();
  if (k > missing)
    return taps.terms[k - missing];
  const auto [source, weight] = taps.terms.front();
  const auto halvings = static_cast<int>(k < missing ? k + 1 : missing);
  return {source, std::ldexp(weight, -halvings)};
}

/// Resizes along one dimension.
static Value resizeAlong(TensorBuilder &emit, Value x, int64_t dimension,
                         ArrayRef<Taps> places) {
  size_t count = 0;
  for (const Taps &taps : places)
    count = std::max(count, taps.terms.size());
  Value sum;
  for (size_t k = 0; k < count; ++k) {
    SmallVector<int64_t> sources;
    SmallVector<double> weights;
    for (const Taps &taps : places) {
      const auto term = termOf(taps, k, count);
      sources.push_back(term.first);
      weights.push_back(term.second);
    }
    Value taken = emit.take(x, emit.integers(sources), dimension);
    bool allOne = llvm::all_of(weights, [](double w) { return w == 1; });
    if (!allOne) {
      Value factors = emit.floats(weights, tensorOf(x).getElementType());
      taken = emit.mul(taken,
                       emit.broadcast(factors, {dimension}, emit.sizes(taken)));
    }
    sum = sum ? emit.add(sum, taken) : taken;
  }
  return sum;
}

/// Resizes along a static dimension; \p outside is set where the extrapolation
/// value is used.
static Value resizeAlong(TensorBuilder &emit, ResizeOp op, const Axis &axis,
                         Value x, int64_t dimension, Value &outside) {
  SmallVector<Taps> places;
  for (int64_t at = 0; at < axis.out; ++at)
    places.push_back(tapsOf(op, axis, at));
  SmallVector<int64_t> flags;
  for (const Taps &taps : places)
    flags.push_back(taps.outside);
  if (llvm::is_contained(flags, 1))
    outside = emit.convert(emit.integers(flags), emit.builder.getI1Type());
  return resizeAlong(emit, x, dimension, places);
}

/// How often each element is repeated along a dynamic dimension, if resizing
/// does nothing else. One size is checked: positions that many apart sample
/// consecutive elements.
static std::optional<int64_t> repetitions(ResizeOp op, int64_t dimension) {
  const double scale = op.getScales()[dimension];
  if (op.getMode() != "nearest" || !op.getRoi().empty() ||
      op.getCoordinates() == "align_corners" || scale < 2 || scale > 0x1p20 ||
      scale != std::floor(scale))
    return std::nullopt;
  const auto times = static_cast<int64_t>(scale);
  const Axis axis{3, 3 * times, scale, 0, 1};
  for (int64_t i = 0; i < axis.out; ++i)
    if (tapsOf(op, axis, i).terms.front().first != i / times)
      return std::nullopt;
  return times;
}

/// Repeats each element along \p dimension \p times, to \p size elements: the
/// product of both, as far as f32 represents it.
static Value repeatAlong(TensorBuilder &emit, Value x, int64_t dimension,
                         int64_t times, const Size &size) {
  Sizes sizes = emit.sizes(x), repeated = sizes;
  repeated.insert(repeated.begin() + dimension + 1, Size(times));
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i)
    places.push_back(i <= dimension ? i : i + 1);
  Value pieces = emit.broadcast(x, places, repeated);
  sizes[dimension] = size;
  return emit.reshape(pieces, sizes);
}

FailureOr<SmallVector<Value>> ResizeOp::decompose(OpBuilder &builder) {
  if (auto numbers = decomposeDequantized(*this, builder))
    return *numbers;
  auto type = tensorOf(getOperand()), resultType = tensorOf(getResult());
  int64_t rank = type.getRank();
  const ResizeForm form{
      getMode(),           getCoordinates(),
      getNearest(),        getCubicCoefficient().convertToDouble(),
      getExcludeOutside(), getAntialias()};
  TensorBuilder emit(builder, getLoc());
  if (resultType.hasStaticShape() && elementCount(resultType.getShape()) == 0)
    return SmallVector<Value>{emit.splat(0, resultType)};
  Value x = getOperand();
  // Weighted sums of integers are taken in f32 and truncated at the end, those
  // of narrower floats are rounded.
  bool isNearest = getMode() == "nearest";
  if (!isNearest && (!isa<FloatType>(type.getElementType()) ||
                     isNarrowFloat(type.getElementType())))
    x = emit.convert(x, builder.getF32Type());
  SmallVector<std::pair<int64_t, Value>> outsides;
  for (int64_t i = 0; i < rank; ++i) {
    Axis axis{type.getDimSize(i), resultType.getDimSize(i), getScales()[i], 0,
              1};
    if (!getRoi().empty()) {
      axis.roiStart = getRoi()[i];
      axis.roiEnd = getRoi()[rank + i];
    }
    bool whole = axis.in == axis.out && axis.scale == 1 && axis.roiStart == 0 &&
                 axis.roiEnd == 1;
    if (whole || axis.in == 0)
      continue;
    Value outside;
    const bool isDynamicIn = ShapedType::isDynamic(axis.in),
               isDynamicOut = ShapedType::isDynamic(axis.out);
    const std::optional<int64_t> times =
        isDynamicIn && isDynamicOut ? repetitions(*this, i) : std::nullopt;
    DynamicAxis open{Size::of(x, i), axis.out,   axis.scale, {},
                     axis.roiStart,  axis.roiEnd};
    if (isDynamicOut)
      open.out = scaledSize(emit, open);
    if (times) {
      x = repeatAlong(emit, x, i, *times, open.out);
    } else if (isDynamicIn || isDynamicOut) {
      x = resizeAlongDynamic(emit, form, open, x, i, outside);
    } else {
      x = resizeAlong(emit, *this, axis, x, i, outside);
    }
    if (outside)
      outsides.push_back({i, outside});
  }
  if (!outsides.empty()) {
    Value any;
    for (auto [dimension, outside] : outsides) {
      Value mask = emit.broadcast(outside, {dimension}, emit.sizes(x));
      any = any ? emit.make<stablehlo::OrOp>(any, mask) : mask;
    }
    x = emit.select(
        any, emit.splatLike(getExtrapolationValue().convertToDouble(), x), x);
  }
  return SmallVector<Value>{emit.convert(x, type.getElementType())};
}

} // namespace sinter::nn
