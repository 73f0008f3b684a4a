#include "graph/nn/DynamicResize.h"

#include <cmath>

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;

namespace {

/// Builds vectors of f64 with one element per index of the result.
class Line {
public:
  Line(TensorBuilder &emit, const ResizeForm &form, const DynamicAxis &axis)
      : emit(emit), form(form), axis(axis), f64(emit.builder.getF64Type()),
        index(emit.integerType(64)), in(spread(axis.in)), out(spread(axis.out)),
        zero(number(0)), one(number(1)) {
    scale = axis.scale ? number(*axis.scale)
            : axis.dynamicScale
                ? emit.broadcast(axis.dynamicScale, {}, {axis.out})
                : emit.div(out, emit.mul(in, axis.roiEnd - axis.roiStart));
  }

  Value resize(Value x, int64_t dimension, Value &outside);

private:
  Value number(double value) { return emit.splat(value, {axis.out}, f64); }
  Value spread(const Size &size) {
    return emit.broadcast(emit.number(size, f64), {}, {axis.out});
  }
  Value floor(Value x) { return emit.make<stablehlo::FloorOp>(x); }
  Value ceil(Value x) { return emit.make<stablehlo::CeilOp>(x); }
  /// Whether the result has a single element, a special case of some formulas.
  Value isSingle() { return emit.compare(Direction::LE, out, one); }

  Value samples();
  Value nearestOf(Value x);
  Value weightAt(Value x);
  /// The elements at indices \p places, weighted unless \p weights is null.
  Value taken(Value x, int64_t dimension, Value places, Value weights);

  TensorBuilder &emit;
  const ResizeForm &form;
  const DynamicAxis &axis;
  Type f64, index;
  Value in, out, zero, one, scale;
};

} // namespace

/// The coordinates in the operand that are sampled; see sampleAt of
/// DecomposeResize.cpp.
Value Line::samples() {
  Value x = emit.iota({axis.out}, 0, f64);
  Value half = emit.div(emit.add(x, 0.5), scale);
  Value last = emit.sub(in, one), more = emit.max(emit.sub(out, one), one);
  if (form.coordinates == "asymmetric")
    return emit.div(x, scale);
  if (form.coordinates == "align_corners")
    return emit.div(emit.mul(x, last), more);
  if (form.coordinates == "pytorch_half_pixel")
    return emit.select(isSingle(), zero, emit.sub(half, 0.5));
  if (form.coordinates == "tf_half_pixel_for_nn")
    return half;
  if (form.coordinates == "tf_crop_and_resize") {
    Value step = emit.div(
        emit.mul(emit.mul(x, axis.roiEnd - axis.roiStart), last), more);
    return emit.select(isSingle(),
                       emit.mul(last, 0.5 * (axis.roiStart + axis.roiEnd)),
                       emit.add(emit.mul(last, axis.roiStart), step));
  }
  if (form.coordinates == "half_pixel_symmetric") {
    Value adjustment = emit.div(out, emit.mul(scale, in));
    Value offset = emit.mul(emit.mul(in, 0.5), emit.sub(one, adjustment));
    return emit.sub(emit.add(offset, half), 0.5);
  }
  return emit.sub(half, 0.5);
}

Value Line::nearestOf(Value x) {
  if (form.nearest == "floor")
    return floor(x);
  if (form.nearest == "ceil")
    return ceil(x);
  if (form.nearest == "round_prefer_ceil")
    return floor(emit.add(x, 0.5));
  if (form.nearest == "simple")
    // Towards zero, but up where the image shrinks.
    return emit.select(
        emit.compare(Direction::LT, scale, one), ceil(x),
        emit.select(emit.compare(Direction::LT, x, zero), ceil(x), floor(x)));
  return ceil(emit.sub(x, 0.5));
}

/// The weight of an element at distance \p x: see weightAt of
/// DecomposeResize.cpp.
Value Line::weightAt(Value x) {
  x = emit.abs(x);
  if (form.mode == "linear")
    return emit.max(emit.sub(one, x), zero);
  const double a = form.cubicCoefficient;
  auto horner = [&](ArrayRef<double> coefficients) {
    Value sum = number(coefficients.front());
    for (double each : coefficients.drop_front())
      sum = emit.add(emit.mul(sum, x), each);
    return sum;
  };
  Value near = horner({a + 2, -(a + 3), 0, 1});
  Value far = horner({a, -5 * a, 8 * a, -4 * a});
  return emit.select(
      emit.compare(Direction::LE, x, one), near,
      emit.select(emit.compare(Direction::LT, x, number(2)), far, zero));
}

Value Line::taken(Value x, int64_t dimension, Value places, Value weights) {
  Value inside = emit.min(emit.max(places, zero), emit.sub(in, one));
  Value elements = emit.take(x, emit.convert(inside, index), dimension);
  if (!weights)
    return elements;
  Value factors = emit.convert(weights, tensorOf(x).getElementType());
  Sizes sizes = emit.sizes(x);
  sizes[dimension] = axis.out;
  return emit.mul(elements, emit.broadcast(factors, {dimension}, sizes));
}

Value Line::resize(Value x, int64_t dimension, Value &outside) {
  Value sample = samples();
  if (form.coordinates == "tf_crop_and_resize")
    outside = emit.make<stablehlo::OrOp>(
        emit.compare(Direction::LT, sample, zero),
        emit.compare(Direction::GT, sample, emit.sub(in, one)));
  if (form.mode == "nearest")
    return taken(x, dimension, nearestOf(sample), {});
  // When shrinking with antialiasing the kernel is stretched.
  const double stretch =
      form.isAntialiased ? std::min(axis.scale.value_or(1), 1.0) : 1;
  const double radius = (form.mode == "linear" ? 1 : 2) / stretch;
  const auto count = static_cast<int64_t>(std::ceil(2 * radius)) +
                     (form.isAntialiased ? 1 : 0);
  Value first = emit.add(floor(emit.sub(sample, radius)), 1.0);
  SmallVector<Value> places, weights;
  Value total;
  for (int64_t i = 0; i < count; ++i) {
    Value place = emit.add(first, static_cast<double>(i));
    Value weight = weightAt(emit.mul(emit.sub(place, sample), stretch));
    if (form.excludesOutside) {
      Value isInside =
          emit.make<stablehlo::AndOp>(emit.compare(Direction::GE, place, zero),
                                      emit.compare(Direction::LT, place, in));
      weight = emit.select(isInside, weight, zero);
    }
    total = total ? emit.add(total, weight) : weight;
    places.push_back(place);
    weights.push_back(weight);
  }
  Value sum;
  for (auto [place, weight] : llvm::zip_equal(places, weights)) {
    if (form.isAntialiased || form.excludesOutside)
      weight = emit.div(weight, total);
    Value term = taken(x, dimension, place, weight);
    sum = sum ? emit.add(sum, term) : term;
  }
  return sum;
}

bool hasDynamicForm(const ResizeForm &form, const DynamicAxis &axis) {
  return form.mode == "nearest" || !form.isAntialiased || axis.scale;
}

Value resizeAlongDynamic(TensorBuilder &emit, const ResizeForm &form,
                         const DynamicAxis &axis, Value x, int64_t dimension,
                         Value &outside) {
  return Line(emit, form, axis).resize(x, dimension, outside);
}

Size scaledSize(TensorBuilder &emit, const DynamicAxis &axis) {
  const double factor = (axis.roiEnd - axis.roiStart) * axis.scale.value_or(1);
  if (axis.in.isKnown() && !axis.dynamicScale)
    return static_cast<int64_t>(std::floor(
        static_cast<float>(static_cast<double>(axis.in.known()) * factor)));
  if (factor == 1 && !axis.dynamicScale)
    return axis.in;
  Value product =
      emit.mul(emit.number(axis.in, emit.builder.getF64Type()), factor);
  if (axis.dynamicScale)
    product = emit.mul(product, axis.dynamicScale);
  Value size = emit.make<stablehlo::FloorOp>(
      emit.convert(product, emit.builder.getF32Type()));
  return Size::computed(
      emit.reshape(emit.convert(size, emit.integerType(32)), {1}));
}

} // namespace sinter::nn
