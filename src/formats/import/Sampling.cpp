// Interpolated sampling of images: grids and regions (RoiAlign).

#include "formats/import/Sampling.h"

#include "formats/import/Building.h"
#include "formats/import/Regions.h"
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

/// A neighbouring pixel of a sampling point along one dimension: its index (an
/// integral floating-point value) and its weight; null is 1.
struct Tap {
  Value index, weight;
};

/// Fails for an image that is known to have no pixels.
bool hasPixels(GraphBuilder &builder, Value image) {
  if (llvm::is_contained(builder.shape(image).drop_front(2), 0))
    builder.unsupported("an image without pixels");
  return !builder.failed();
}

/// Samples [N, C, spatial...] at points given per image or, with the image
/// index of each region ([R]), per region: then channels are the innermost
/// dimension, so that the elements of one point are contiguous.
class Sampler {
public:
  Sampler(GraphBuilder &builder, Value image, Value imageOfRegion = {})
      : builder(builder), a{builder, builder.element(image)}, image(image) {
    Dims all = builder.dims(image);
    spatial.assign(all.begin() + 2, all.end());
    if (imageOfRegion)
      setRegions(imageOfRegion);
    else
      flat = builder.reshape(
          image, ArrayRef<Dim>({all[0], all[1], builder.product(spatial)}));
  }
  Value size(int64_t d) { return sizeScalar(builder, spatial[d], a.element); }
  /// Greatest index of a dimension.
  Value lastIndex(int64_t d) { return a.sub(size(d), 1); }
  int64_t rank() const { return spatial.size(); }

  /// The pixels [N, C, P] at whole indices [N, 1, P], which lie inside; of
  /// regions [R, P, C] at [R, P, 1].
  Value pixels(ArrayRef<Value> indices);
  /// The sum over all combinations of taps of weight times pixel, or their
  /// maximum.
  Value interpolate(ArrayRef<SmallVector<Tap, 4>> taps, bool greatest = false);

  GraphBuilder &builder;
  Arithmetic a;
  Value image, flat;
  /// The index of the first pixel of each region's image, [R, 1, 1]; null
  /// without regions and for a single image.
  Value firstOfRegion;
  bool hasRegions = false;
  Dims spatial;

private:
  void setRegions(Value imageOfRegion);
};
} // namespace

/// Makes `flat` the pixels of all images, [N * P, C].
void Sampler::setRegions(Value imageOfRegion) {
  hasRegions = true;
  const Dims all = builder.dims(image);
  const Dim pixels = builder.product(spatial);
  Ints channelsLast{0};
  for (int64_t d = 0; d < rank(); ++d)
    channelsLast.push_back(d + 2);
  channelsLast.push_back(1);
  flat = builder.reshape(
      builder.transpose(image, channelsLast),
      ArrayRef<Dim>({builder.product({all[0], pixels}), all[1]}));
  if (all[0].isStatic() && all[0].size == 1)
    return;
  // As in nn.take: negative indices count from the end, and all are clamped.
  auto integers = [&](Value x) { return builder.cast(x, builder.i64()); };
  Value zero = builder.scalar(builder.i64(), 0),
        one = builder.scalar(builder.i64(), 1),
        images = sizeScalar(builder, all[0], builder.i64()),
        chosen = integers(imageOfRegion);
  chosen =
      select(builder, builder.compare(chosen, zero, ComparisonDirection::LT),
             builder.binary<stablehlo::AddOp>(chosen, images), chosen);
  chosen = builder.binary<stablehlo::MinOp>(
      builder.binary<stablehlo::MaxOp>(chosen, zero),
      builder.binary<stablehlo::SubtractOp>(images, one));
  firstOfRegion =
      builder.unsqueeze(builder.binary<stablehlo::MulOp>(
                            chosen, sizeScalar(builder, pixels, builder.i64())),
                        {1, 2});
}

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
  if (hasRegions) {
    if (firstOfRegion)
      place = builder.binary<stablehlo::AddOp>(place, firstOfRegion);
    const Dims at = builder.dims(place);
    return builder.op<nn::TakeOp>(
        flat, builder.reshape(place, ArrayRef(at).drop_back()), uint64_t(0));
  }
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
// Sampling points of a grid
//===----------------------------------------------------------------------===//

/// Folds \p x into [low, low + span] by reflection at both ends.
static Value reflect(Arithmetic &a, Value x, double low, Value span) {
  // A period covers the span in both directions; an image of one pixel has no
  // span.
  Value period = a.max(a.mul(span, 2), a.number(1e-30));
  Value distance = a.sub(x, low);
  Value within =
      a.sub(distance, a.mul(a.floor(a.div(distance, period)), period));
  return a.add(a.sub(span, a.abs(a.sub(within, span))), low);
}

/// Maps \p x into the image by the rules; with Zeros it may stay outside.
static Value mapInside(Sampler &sampler, const GridRules &rules, Value x,
                       int64_t d) {
  Arithmetic &a = sampler.a;
  if (rules.outside == GridRules::Outside::Zeros)
    return x;
  if (rules.outside == GridRules::Outside::Reflection)
    x = rules.alignCorners ? reflect(a, x, 0, sampler.lastIndex(d))
                           : reflect(a, x, -0.5, sampler.size(d));
  return a.clamp(x, a.number(0), sampler.lastIndex(d));
}

/// A tap whose index may lie outside: there its weight is 0, or the index is
/// mapped into the image.
static Tap safeTap(Sampler &sampler, const GridRules &rules, Value index,
                   Value weight, int64_t d) {
  Arithmetic &a = sampler.a;
  Value zero = a.number(0), last = sampler.lastIndex(d);
  if (rules.outside == GridRules::Outside::Zeros) {
    Value inside = a.within(index, zero, last);
    weight =
        select(sampler.builder, inside, weight ? weight : a.number(1), zero);
  } else {
    index = mapInside(sampler, rules, index, d);
  }
  return {a.clamp(index, zero, last), weight};
}

/// The four weights of cubic convolution (Keys 1981) with coefficient -0.75,
/// for pixels -1, 0, 1, 2 and a point \p t after pixel 0.
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

/// The taps of points \p x along dimension \p d.
static SmallVector<Tap, 4> gridTaps(Sampler &sampler, const GridRules &rules,
                                    Value x, int64_t d) {
  Arithmetic &a = sampler.a;
  if (rules.mode != "cubic")
    x = mapInside(sampler, rules, x, d);
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
      (builder.size(grid, -1) != dimensions &&
       !ShapedType::isDynamic(builder.size(grid, -1))))
    return builder.fail(
        "the grid needs the image's rank and one coordinate per "
        "spatial dimension");
  if (!hasPixels(builder, image))
    return {};
  // Pixels of many channels are read as vectors.
  constexpr int64_t fewestChannels = 8;
  const Dim channels = builder.dim(image, 1);
  const bool hasRows = channels.isStatic() && channels.size >= fewestChannels;
  Dims sizes = builder.dims(grid);
  Sampler sampler(builder, widened(builder, image),
                  hasRows ? iota(builder, {sizes[0]}, 0, builder.i64())
                          : Value());
  Arithmetic &a = sampler.a;
  Dim count = builder.product(ArrayRef(sizes).slice(1, dimensions));
  const Dims points =
      hasRows ? Dims{sizes[0], count, Dim(1)} : Dims{sizes[0], Dim(1), count};
  Value places = builder.reshape(builder.cast(grid, a.element),
                                 ArrayRef<Dim>({sizes[0], count, dimensions}));
  SmallVector<SmallVector<Tap, 4>> taps;
  for (int64_t d = 0; d < dimensions && !builder.failed(); ++d) {
    int64_t column = dimensions - 1 - d;
    Value x = builder.reshape(builder.sliceAxis(places, 2, column, column + 1),
                              ArrayRef(points));
    x = a.add(x, 1);
    x = rules.alignCorners ? a.mul(a.div(x, 2), sampler.lastIndex(d))
                           : a.div(a.sub(a.mul(x, sampler.size(d)), 1), 2);
    taps.push_back(gridTaps(sampler, rules, x, d));
  }
  if (builder.failed())
    return {};
  Value result = sampler.interpolate(taps);
  if (hasRows)
    result = builder.transpose(result, {0, 2, 1});
  Dims shape{builder.dim(image, 0), channels};
  shape.append(sizes.begin() + 1, sizes.end() - 1);
  return builder.cast(builder.reshape(result, shape), builder.element(image));
}

Value samplePositions(GraphBuilder &builder, Value image, Value rows,
                      Value columns) {
  if (!image || !rows || !columns || !hasPixels(builder, image))
    return {};
  Sampler sampler(builder, widened(builder, image));
  const GridRules rules;
  SmallVector<SmallVector<Tap, 4>> taps;
  for (auto [d, places] : {std::pair(0, rows), std::pair(1, columns)})
    taps.push_back(gridTaps(
        sampler, rules,
        builder.unsqueeze(builder.cast(places, sampler.a.element), {1}), d));
  if (builder.failed())
    return {};
  return builder.cast(sampler.interpolate(taps), builder.element(image));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// The start and the extent of each region along one dimension, both [R, 1].
struct RoiSpan {
  Value low, extent;
};
} // namespace

/// \p low and \p high are the elements of the regions operand.
static RoiSpan roiSpan(Arithmetic &a, const RoiRules &rules, Value low,
                       Value high) {
  double offset = rules.halfPixel ? 0.5 : 0;
  low = a.sub(a.mul(low, rules.scale), offset);
  high = a.sub(a.mul(high, rules.scale), offset);
  Value extent = a.sub(high, low);
  if (!rules.halfPixel)
    extent = a.max(extent, a.number(1));
  return {low, extent};
}

/// The sampling points [R, bins * samples] along one dimension.
static Value roiPoints(Arithmetic &a, const RoiRules &rules,
                       const RoiSpan &span, int64_t bins) {
  SmallVector<double> fractions;
  for (int64_t i = 0; i < bins * rules.samples; ++i)
    fractions.push_back((i + 0.5) / (bins * rules.samples));
  Value steps = numbers(a.builder, a.element, fractions,
                        {1, static_cast<int64_t>(fractions.size())});
  return a.add(a.mul(span.extent, steps), span.low);
}

/// The two neighbouring pixels of each point. Points more than a pixel outside
/// have weight 0.
static SmallVector<Tap, 4> roiTaps(Sampler &sampler, Value x, int64_t d) {
  Arithmetic &a = sampler.a;
  Value zero = a.number(0), last = sampler.lastIndex(d);
  Value inside = a.within(x, a.number(-1), sampler.size(d));
  x = a.clamp(x, zero, last);
  Value base = a.floor(x), t = a.sub(x, base);
  return {{base, select(a.builder, inside, a.sub(1, t), zero)},
          {a.min(a.add(base, 1), last), select(a.builder, inside, t, zero)}};
}

/// Combines points along both dimensions, [R, rows] and [R, columns], to taps
/// of the points [R, rows * columns, 1].
static SmallVector<SmallVector<Tap, 4>> gridOfRegions(Sampler &sampler,
                                                      ArrayRef<Value> places) {
  GraphBuilder &builder = sampler.builder;
  if (!places[0] || !places[1])
    return {};
  const Dim regions = builder.dim(places[0], 0);
  const int64_t rows = builder.size(places[0], 1),
                columns = builder.size(places[1], 1);
  SmallVector<SmallVector<Tap, 4>> taps;
  for (int64_t d = 0; d < 2; ++d) {
    Dims grid{regions, d == 0 ? rows : 1, d == 0 ? 1 : columns};
    Value all = builder.broadcastInDim(builder.reshape(places[d], grid),
                                       ArrayRef<Dim>({regions, rows, columns}),
                                       {0, 1, 2});
    taps.push_back(roiTaps(
        sampler,
        builder.reshape(all, ArrayRef<Dim>({regions, rows * columns, 1})), d));
  }
  return taps;
}

/// As many samples in each bin of each region: [R, C, bins...].
static Value sampleEvenly(Sampler &sampler, const RoiRules &rules,
                          ArrayRef<RoiSpan> spans) {
  GraphBuilder &builder = sampler.builder;
  Arithmetic &a = sampler.a;
  auto taps =
      gridOfRegions(sampler, {roiPoints(a, rules, spans[0], rules.bins[0]),
                              roiPoints(a, rules, spans[1], rules.bins[1])});
  if (builder.failed())
    return {};
  // ONNX takes the maximum of the weighted pixels, not of their sums.
  Value sampled = builder.reshape(
      sampler.interpolate(taps, rules.maximum),
      ArrayRef<Dim>({builder.dim(spans[0].low, 0), rules.bins[0], rules.samples,
                     rules.bins[1], rules.samples,
                     builder.dim(sampler.image, 1)}));
  Value result =
      rules.maximum
          ? builder.reduce<stablehlo::MaxOp>(
                sampled, {2, 4}, -std::numeric_limits<double>::infinity(),
                false)
          : a.div(builder.reduce<stablehlo::AddOp>(sampled, {2, 4}, 0, false),
                  static_cast<double>(rules.samples) * rules.samples);
  return builder.transpose(result, {0, 3, 1, 2});
}

/// Maximum number of samples of a bin along a dimension. Bins of real images
/// have fewer pixels; it bounds the loop for regions far larger than any image.
static constexpr double mostSamples = 1024;

namespace {
/// Sampling with a sample count that differs between regions. A loop takes one
/// sample of each bin per iteration and ends with the region that has most.
class UnevenSampling {
public:
  UnevenSampling(Sampler &sampler, const RoiRules &rules,
                 ArrayRef<RoiSpan> spans)
      : sampler(sampler), builder(sampler.builder), a(sampler.a), rules(rules),
        spans(spans) {}
  /// [R, C, bins...].
  Value run();

private:
  Value hasMore(Value row, Value column);
  Values step(Value row, Value column, Value sum);
  /// The point of one sample in each bin along dimension \p d, [R, bins].
  Value pointsOf(Value sample, int64_t d);

  Sampler &sampler;
  GraphBuilder &builder;
  Arithmetic &a;
  const RoiRules &rules;
  ArrayRef<RoiSpan> spans;
  /// The sample count along both dimensions: [R, 1], and its maximum.
  Value counts[2], most[2];
  /// The shape of the accumulator: [R, bins, C].
  Dims sizes;
};
} // namespace

Value UnevenSampling::pointsOf(Value sample, int64_t d) {
  SmallVector<double> firsts;
  for (int64_t i = 0; i < rules.bins[d]; ++i)
    firsts.push_back(static_cast<double>(i));
  Value bins = numbers(builder, a.element, firsts, {1, rules.bins[d]});
  Value part = a.div(a.add(builder.cast(sample, a.element), 0.5), counts[d]);
  Value width = a.div(spans[d].extent, static_cast<double>(rules.bins[d]));
  return a.add(a.mul(width, a.add(bins, part)), spans[d].low);
}

Value UnevenSampling::hasMore(Value row, Value column) {
  auto isBelow = [&](Value sample, Value limit) {
    return builder.compare(builder.cast(sample, a.element), limit,
                           ComparisonDirection::LT);
  };
  return builder.op<stablehlo::AndOp>(isBelow(row, most[0]),
                                      isBelow(column, most[1]));
}

Values UnevenSampling::step(Value row, Value column, Value sum) {
  auto taps = gridOfRegions(sampler, {pointsOf(row, 0), pointsOf(column, 1)});
  if (builder.failed())
    return {};
  Value sampled =
      builder.reshape(sampler.interpolate(taps, rules.maximum), sizes);
  Value isOne;
  for (auto [d, sample] : {std::pair(0, row), std::pair(1, column)}) {
    Value below = builder.compare(builder.cast(sample, a.element), counts[d],
                                  ComparisonDirection::LT);
    isOne = isOne ? builder.op<stablehlo::AndOp>(isOne, below) : below;
  }
  isOne = builder.unsqueeze(isOne, {2});
  Value next = rules.maximum
                   ? select(builder, isOne, a.max(sum, sampled), sum)
                   : a.add(sum, select(builder, isOne, sampled, a.number(0)));
  // In row-major order.
  Value one = builder.scalar(builder.i64(), 1),
        zero = builder.scalar(builder.i64(), 0);
  Value after = builder.op<stablehlo::AddOp>(column, one);
  Value isLast = builder.compare(builder.cast(after, a.element), most[1],
                                 ComparisonDirection::GE);
  return {builder.op<stablehlo::SelectOp>(
              isLast, builder.op<stablehlo::AddOp>(row, one), row),
          builder.op<stablehlo::SelectOp>(isLast, zero, after),
          builder.reshape(next, sizes)};
}

Value UnevenSampling::run() {
  sizes = {builder.dim(spans[0].low, 0), rules.bins[0] * rules.bins[1],
           builder.dim(sampler.image, 1)};
  for (int64_t d = 0; d < 2; ++d) {
    Value count = builder.op<stablehlo::CeilOp>(
        a.div(spans[d].extent, static_cast<double>(rules.bins[d])));
    // A region of infinite extent has no samples.
    Value isCount = builder.op<stablehlo::AndOp>(
        builder.compare(count, a.number(0), ComparisonDirection::GT),
        builder.op<stablehlo::IsFiniteOp>(count));
    counts[d] = a.min(select(builder, isCount, count, a.number(0)),
                      a.number(mostSamples));
    most[d] = builder.reduce<stablehlo::MaxOp>(counts[d], {0, 1}, 0, false);
  }
  Value start = builder.scalar(builder.i64(), 0);
  const double nothing =
      rules.maximum ? -std::numeric_limits<double>::infinity() : 0;
  Value sum = builder.broadcastInDim(a.number(nothing), sizes, {});
  if (!sum || !most[0] || !most[1])
    return {};
  Value result = whileLoop(
      builder, {start, start, sum},
      [&](ValueRange states) { return hasMore(states[0], states[1]); },
      [&](ValueRange states) { return step(states[0], states[1], states[2]); },
      2);
  Value all = builder.unsqueeze(a.mul(counts[0], counts[1]), {2});
  Value isEmpty = builder.compare(all, a.number(0), ComparisonDirection::EQ);
  if (!rules.maximum)
    result = a.div(result, a.max(all, a.number(1)));
  return builder.transpose(
      builder.reshape(
          select(builder, isEmpty, a.number(0), result),
          ArrayRef<Dim>({sizes[0], rules.bins[0], rules.bins[1], sizes[2]})),
      {0, 3, 1, 2});
}

Value alignRegions(GraphBuilder &builder, Value image, Value regionsOf,
                   Value batch, const RoiRules &rules) {
  Value given = image, x = widened(builder, image),
        rois = widened(builder, regionsOf);
  if (!x || !rois || !batch)
    return {};
  if (builder.rank(x) != 4 || builder.rank(rois) != 2 ||
      (builder.size(rois, 1) != 4 &&
       !ShapedType::isDynamic(builder.size(rois, 1))))
    return builder.fail(
        "the image needs four dimensions, and a region four coordinates");
  if (!hasPixels(builder, x))
    return {};
  Sampler sampler(builder, x, batch);
  SmallVector<RoiSpan> spans;
  // A region is x1, y1, x2, y2.
  for (int64_t d = 0; d < 2; ++d)
    spans.push_back(roiSpan(sampler.a, rules,
                            builder.sliceAxis(rois, 1, 1 - d, 2 - d),
                            builder.sliceAxis(rois, 1, 3 - d, 4 - d)));
  Value result = rules.samples > 0
                     ? sampleEvenly(sampler, rules, spans)
                     : UnevenSampling(sampler, rules, spans).run();
  return builder.cast(result, builder.element(given));
}

} // namespace sinter::formats
