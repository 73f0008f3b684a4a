// Images read between the pixels.

#include "formats/import/Sampling.h"

#include "formats/import/Building.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

namespace {
/// Floating-point arithmetic with broadcasting.
struct Arithmetic {
  GraphBuilder &builder;
  Type element;

  Value number(double value) { return builder.scalar(element, value); }
  Value add(Value a, Value b) { return builder.binary<stablehlo::AddOp>(a, b); }
  Value sub(Value a, Value b) {
    return builder.binary<stablehlo::SubtractOp>(a, b);
  }
  Value mul(Value a, Value b) { return builder.binary<stablehlo::MulOp>(a, b); }
  Value div(Value a, Value b) { return builder.binary<stablehlo::DivOp>(a, b); }
  Value max(Value a, Value b) { return builder.binary<stablehlo::MaxOp>(a, b); }
  Value min(Value a, Value b) { return builder.binary<stablehlo::MinOp>(a, b); }
  Value add(Value a, double b) { return add(a, number(b)); }
  Value sub(Value a, double b) { return sub(a, number(b)); }
  Value sub(double a, Value b) { return sub(number(a), b); }
  Value mul(Value a, double b) { return mul(a, number(b)); }
  Value div(Value a, double b) { return div(a, number(b)); }
  Value abs(Value a) { return builder.op<stablehlo::AbsOp>(a); }
  Value floor(Value a) { return builder.op<stablehlo::FloorOp>(a); }
  Value clamp(Value a, Value low, Value high) { return min(max(a, low), high); }
  /// Whether low <= a <= high.
  Value within(Value a, Value low, Value high) {
    return builder.binary<stablehlo::AndOp>(
        builder.compare(a, low, ComparisonDirection::GE),
        builder.compare(a, high, ComparisonDirection::LE));
  }
};

/// A pixel beside a place along one dimension: its index (a whole number, still
/// floating-point) and its weight; null is 1.
struct Tap {
  Value index, weight;
};

/// Reads [N, C, spatial...] at places given per image.
class Sampler {
public:
  Sampler(GraphBuilder &builder, Value image)
      : builder(builder), a{builder, builder.element(image)}, image(image) {
    Dims all = builder.dims(image);
    spatial.assign(all.begin() + 2, all.end());
    flat = builder.reshape(
        image, ArrayRef<Dim>({all[0], all[1], builder.product(spatial)}));
  }
  Value size(int64_t d) { return sizeScalar(builder, spatial[d], a.element); }
  /// Greatest index of a dimension.
  Value lastIndex(int64_t d) { return a.sub(size(d), 1); }
  int64_t rank() const { return spatial.size(); }

  /// The pixels [N, C, P] at whole indices [N, 1, P], which lie inside.
  Value pixels(ArrayRef<Value> indices);
  /// The sum over all combinations of taps of weight times pixel, or the
  /// greatest of these.
  Value interpolate(ArrayRef<SmallVector<Tap, 4>> taps, bool greatest = false);

  GraphBuilder &builder;
  Arithmetic a;
  Value image, flat;
  Dims spatial;
};
} // namespace

Value Sampler::pixels(ArrayRef<Value> indices) {
  Value place;
  for (auto [d, index] : llvm::enumerate(indices)) {
    Value whole = builder.cast(index, builder.i64());
    if (place)
      place = builder.binary<stablehlo::MulOp>(
          place, sizeScalar(builder, spatial[d], builder.i64()));
    place = place ? builder.binary<stablehlo::AddOp>(place, whole) : whole;
  }
  if (!place || !flat)
    return {};
  Dims shape = builder.dims(place);
  shape[1] = builder.dim(flat, 1);
  Value everyChannel = builder.broadcastInDim(place, shape, {0, 1, 2});
  return builder.op<nn::TakeAlongOp>(flat, everyChannel, uint64_t(2));
}

Value Sampler::interpolate(ArrayRef<SmallVector<Tap, 4>> taps, bool greatest) {
  size_t combinations = 1;
  for (const auto &each : taps)
    combinations *= each.size();
  Value result;
  for (size_t i = 0; i < combinations && !builder.failed(); ++i) {
    Values indices;
    Value weight;
    size_t rest = i;
    for (const auto &each : taps) {
      const Tap &tap = each[rest % each.size()];
      rest /= each.size();
      indices.push_back(tap.index);
      if (tap.weight)
        weight = weight ? a.mul(weight, tap.weight) : tap.weight;
    }
    Value term = pixels(indices);
    if (weight)
      term = a.mul(term, weight);
    if (!result)
      result = term;
    else
      result = greatest ? a.max(result, term) : a.add(result, term);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Places that a grid says
//===----------------------------------------------------------------------===//

/// Folds \p x into [low, low + span] by reflection at both ends.
static Value reflect(Arithmetic &a, Value x, double low, Value span) {
  // A period is there and back; an image of one pixel has no span.
  Value period = a.max(a.mul(span, 2), a.number(1e-30));
  Value distance = a.sub(x, low);
  Value within =
      a.sub(distance, a.mul(a.floor(a.div(distance, period)), period));
  return a.add(a.sub(span, a.abs(a.sub(within, span))), low);
}

/// \p x brought inside as the rules say; zeros are left outside.
static Value bringInside(Sampler &sampler, const GridRules &rules, Value x,
                         int64_t d) {
  Arithmetic &a = sampler.a;
  if (rules.outside == GridRules::Outside::Zeros)
    return x;
  if (rules.outside == GridRules::Outside::Reflection)
    x = rules.alignCorners ? reflect(a, x, 0, sampler.lastIndex(d))
                           : reflect(a, x, -0.5, sampler.size(d));
  return a.clamp(x, a.number(0), sampler.lastIndex(d));
}

/// A tap whose index may lie outside: there it counts nothing or is brought
/// inside.
static Tap safeTap(Sampler &sampler, const GridRules &rules, Value index,
                   Value weight, int64_t d) {
  Arithmetic &a = sampler.a;
  Value zero = a.number(0), last = sampler.lastIndex(d);
  if (rules.outside == GridRules::Outside::Zeros) {
    Value inside = a.within(index, zero, last);
    weight =
        select(sampler.builder, inside, weight ? weight : a.number(1), zero);
  } else {
    index = bringInside(sampler, rules, index, d);
  }
  return {a.clamp(index, zero, last), weight};
}

/// The four weights of cubic convolution (Keys 1981) with coefficient -0.75, of
/// pixels at -1, 0, 1, 2 from a place \p t after pixel 0.
static SmallVector<Value, 4> cubicWeights(Arithmetic &a, Value t) {
  constexpr double c = -0.75;
  auto near = [&](Value x) {
    return a.add(a.mul(a.mul(a.sub(a.mul(x, c + 2), c + 3), x), x), 1);
  };
  auto far = [&](Value x) {
    Value inner = a.add(a.mul(a.sub(a.mul(x, c), 5 * c), x), 8 * c);
    return a.sub(a.mul(inner, x), 4 * c);
  };
  return {far(a.add(t, 1)), near(t), near(a.sub(1, t)), far(a.sub(2, t))};
}

/// The taps of places \p x along dimension \p d.
static SmallVector<Tap, 4> gridTaps(Sampler &sampler, const GridRules &rules,
                                    Value x, int64_t d) {
  Arithmetic &a = sampler.a;
  if (rules.mode != "cubic")
    x = bringInside(sampler, rules, x, d);
  if (rules.mode == "nearest") {
    Value whole = rules.roundsHalfAway
                      ? sampler.builder.op<stablehlo::RoundOp>(x)
                      : sampler.builder.op<stablehlo::RoundNearestEvenOp>(x);
    return {safeTap(sampler, rules, whole, {}, d)};
  }
  Value base = a.floor(x), t = a.sub(x, base);
  if (rules.mode == "linear")
    return {safeTap(sampler, rules, base, a.sub(1, t), d),
            safeTap(sampler, rules, a.add(base, 1), t, d)};
  SmallVector<Tap, 4> taps;
  for (auto [i, weight] : llvm::enumerate(cubicWeights(a, t)))
    taps.push_back(safeTap(sampler, rules,
                           a.add(base, static_cast<double>(i) - 1), weight, d));
  return taps;
}

Value sampleGrid(GraphBuilder &builder, Value image, Value grid,
                 const GridRules &rules) {
  int64_t rank = builder.rank(image), dimensions = rank - 2;
  if (rank < 3 || rank > 5 || builder.rank(grid) != rank ||
      (builder.shape(grid).back() != dimensions &&
       !ShapedType::isDynamic(builder.shape(grid).back())))
    return builder.fail("the grid has not the image's rank, or not one place a "
                        "spatial dimension");
  Sampler sampler(builder, widened(builder, image));
  Arithmetic &a = sampler.a;
  Dims sizes = builder.dims(grid);
  Dim count = builder.product(ArrayRef(sizes).slice(1, dimensions));
  Value places = builder.reshape(builder.cast(grid, a.element),
                                 ArrayRef<Dim>({sizes[0], count, dimensions}));
  SmallVector<SmallVector<Tap, 4>> taps;
  for (int64_t d = 0; d < dimensions && !builder.failed(); ++d) {
    int64_t column = dimensions - 1 - d;
    Value x = builder.reshape(builder.sliceAxis(places, 2, column, column + 1),
                              ArrayRef<Dim>({sizes[0], 1, count}));
    x = a.add(x, 1);
    x = rules.alignCorners ? a.mul(a.div(x, 2), sampler.lastIndex(d))
                           : a.div(a.sub(a.mul(x, sampler.size(d)), 1), 2);
    taps.push_back(gridTaps(sampler, rules, x, d));
  }
  if (builder.failed())
    return {};
  Value result = sampler.interpolate(taps);
  Dims shape{builder.dim(image, 0), builder.dim(image, 1)};
  shape.append(sizes.begin() + 1, sizes.end() - 1);
  return builder.cast(builder.reshape(result, shape), builder.element(image));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The places [R, bins * samples] along one dimension, each region's from its
/// start \p low to its end \p high, both [R, 1].
static Value roiPlaces(Arithmetic &a, const RoiRules &rules, Value low,
                       Value high, int64_t bins) {
  double offset = rules.halfPixel ? 0.5 : 0;
  low = a.sub(a.mul(low, rules.scale), offset);
  high = a.sub(a.mul(high, rules.scale), offset);
  Value extent = a.sub(high, low);
  if (!rules.halfPixel)
    extent = a.max(extent, a.number(1));
  SmallVector<double> fractions;
  for (int64_t i = 0; i < bins * rules.samples; ++i)
    fractions.push_back((i + 0.5) / (bins * rules.samples));
  Value steps = numbers(a.builder, a.element, fractions,
                        {1, static_cast<int64_t>(fractions.size())});
  return a.add(a.mul(extent, steps), low);
}

/// The two pixels beside each place. More than a pixel outside counts nothing.
static SmallVector<Tap, 4> roiTaps(Sampler &sampler, Value x, int64_t d) {
  Arithmetic &a = sampler.a;
  Value zero = a.number(0), last = sampler.lastIndex(d);
  Value inside = a.within(x, a.number(-1), sampler.size(d));
  x = a.clamp(x, zero, last);
  Value base = a.floor(x), t = a.sub(x, base);
  return {{base, select(a.builder, inside, a.sub(1, t), zero)},
          {a.min(a.add(base, 1), last), select(a.builder, inside, t, zero)}};
}

Value alignRegions(GraphBuilder &builder, Value image, Value regionsOf,
                   Value batch, const RoiRules &rules) {
  Value given = image, x = widened(builder, image),
        rois = widened(builder, regionsOf);
  if (!x || !rois || !batch)
    return {};
  if (builder.rank(x) != 4 || builder.rank(rois) != 2 ||
      (builder.shape(rois)[1] != 4 &&
       !ShapedType::isDynamic(builder.shape(rois)[1])))
    return builder.fail(
        "the image has not four dimensions, or a region not four "
        "numbers");
  Value images = builder.op<nn::TakeOp>(x, batch, uint64_t(0));
  if (!images)
    return {};
  Sampler sampler(builder, images);
  Arithmetic &a = sampler.a;
  Dim regions = builder.dim(rois, 0);
  int64_t rows = rules.bins[0] * rules.samples;
  int64_t columns = rules.bins[1] * rules.samples;
  SmallVector<SmallVector<Tap, 4>> taps;
  for (int64_t d = 0; d < 2; ++d) {
    // A region is x1, y1, x2, y2.
    Value low = builder.sliceAxis(rois, 1, 1 - d, 2 - d);
    Value high = builder.sliceAxis(rois, 1, 3 - d, 4 - d);
    Value places = roiPlaces(a, rules, low, high, rules.bins[d]);
    Dims grid{regions, d == 0 ? rows : 1, d == 0 ? 1 : columns};
    places = builder.reshape(places, grid);
    Value all = builder.broadcastInDim(
        places, ArrayRef<Dim>({regions, rows, columns}), {0, 1, 2});
    taps.push_back(roiTaps(
        sampler,
        builder.reshape(all, ArrayRef<Dim>({regions, 1, rows * columns})), d));
  }
  // ONNX's maximum is that of the weighted pixels, not of their sums.
  Value sampled = builder.reshape(
      sampler.interpolate(taps, rules.maximum),
      ArrayRef<Dim>({regions, builder.dim(x, 1), rules.bins[0], rules.samples,
                     rules.bins[1], rules.samples}));
  Value result;
  if (rules.maximum)
    result = builder.reduce<stablehlo::MaxOp>(
        sampled, {3, 5}, -std::numeric_limits<double>::infinity(), false);
  else
    result = a.div(builder.reduce<stablehlo::AddOp>(sampled, {3, 5}, 0, false),
                   static_cast<double>(rules.samples) * rules.samples);
  return builder.cast(result, builder.element(given));
}

} // namespace sinter::formats
