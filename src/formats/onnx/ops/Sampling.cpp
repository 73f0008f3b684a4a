// Operators that read images between the pixels.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

namespace {
/// Floating-point arithmetic with broadcasting.
struct Arithmetic {
  NodeContext &node;
  Type element;

  Value number(double value) { return node.scalar(element, value); }
  Value add(Value a, Value b) { return node.binary<stablehlo::AddOp>(a, b); }
  Value sub(Value a, Value b) {
    return node.binary<stablehlo::SubtractOp>(a, b);
  }
  Value mul(Value a, Value b) { return node.binary<stablehlo::MulOp>(a, b); }
  Value div(Value a, Value b) { return node.binary<stablehlo::DivOp>(a, b); }
  Value max(Value a, Value b) { return node.binary<stablehlo::MaxOp>(a, b); }
  Value min(Value a, Value b) { return node.binary<stablehlo::MinOp>(a, b); }
  Value add(Value a, double b) { return add(a, number(b)); }
  Value sub(Value a, double b) { return sub(a, number(b)); }
  Value sub(double a, Value b) { return sub(number(a), b); }
  Value mul(Value a, double b) { return mul(a, number(b)); }
  Value div(Value a, double b) { return div(a, number(b)); }
  Value abs(Value a) { return node.op<stablehlo::AbsOp>(a); }
  Value floor(Value a) { return node.op<stablehlo::FloorOp>(a); }
  Value clamp(Value a, Value low, Value high) { return min(max(a, low), high); }
  /// Whether low <= a <= high.
  Value within(Value a, Value low, Value high) {
    return node.binary<stablehlo::AndOp>(
        node.compare(a, low, ComparisonDirection::GE),
        node.compare(a, high, ComparisonDirection::LE));
  }
};

/// A pixel beside a place along one dimension: its index (a whole number, still
/// floating-point) and its weight; null is 1.
struct Tap {
  Value index, weight;
};

enum class Outside { Zeros, Border, Reflection };

/// Reads [N, C, spatial...] at places given per image.
class Sampler {
public:
  Sampler(NodeContext &node, Value image)
      : node(node), a{node, node.element(image)}, image(image) {
    Dims all = node.dims(image);
    spatial.assign(all.begin() + 2, all.end());
    flat = node.reshape(image,
                        ArrayRef<Dim>({all[0], all[1], node.product(spatial)}));
  }
  Value size(int64_t d) { return sizeScalar(node, spatial[d], a.element); }
  /// Greatest index of a dimension.
  Value lastIndex(int64_t d) { return a.sub(size(d), 1); }
  int64_t rank() const { return spatial.size(); }

  /// The pixels [N, C, P] at whole indices [N, 1, P], which lie inside.
  Value pixels(ArrayRef<Value> indices);
  /// The sum over all combinations of taps of weight times pixel, or the
  /// greatest of these.
  Value interpolate(ArrayRef<SmallVector<Tap, 4>> taps, bool greatest = false);

  NodeContext &node;
  Arithmetic a;
  Value image, flat;
  Dims spatial;
};

/// GridSample's attributes.
struct GridRules {
  std::string mode;
  Outside outside = Outside::Zeros;
  bool alignCorners = false;
};
} // namespace

Value Sampler::pixels(ArrayRef<Value> indices) {
  Value place;
  for (auto [d, index] : llvm::enumerate(indices)) {
    Value whole = node.cast(index, node.i64());
    if (place)
      place = node.binary<stablehlo::MulOp>(
          place, sizeScalar(node, spatial[d], node.i64()));
    place = place ? node.binary<stablehlo::AddOp>(place, whole) : whole;
  }
  if (!place || !flat)
    return {};
  Dims shape = node.dims(place);
  shape[1] = node.dim(flat, 1);
  Value everyChannel = node.broadcastInDim(place, shape, {0, 1, 2});
  return node.op<nn::TakeAlongOp>(flat, everyChannel, uint64_t(2));
}

Value Sampler::interpolate(ArrayRef<SmallVector<Tap, 4>> taps, bool greatest) {
  size_t combinations = 1;
  for (const auto &each : taps)
    combinations *= each.size();
  Value result;
  for (size_t i = 0; i < combinations && !node.failed(); ++i) {
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
// GridSample
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
  if (rules.outside == Outside::Zeros)
    return x;
  if (rules.outside == Outside::Reflection)
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
  if (rules.outside == Outside::Zeros) {
    Value inside = a.within(index, zero, last);
    weight = select(sampler.node, inside, weight ? weight : a.number(1), zero);
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
  if (rules.mode == "nearest")
    return {safeTap(sampler, rules,
                    sampler.node.op<stablehlo::RoundNearestEvenOp>(x), {}, d)};
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

static std::optional<GridRules> readGridRules(NodeContext &node) {
  GridRules rules;
  rules.mode =
      node.getString("mode", node.version() < 20 ? "bilinear" : "linear");
  if (rules.mode == "bilinear")
    rules.mode = "linear";
  if (rules.mode == "bicubic")
    rules.mode = "cubic";
  rules.alignCorners = node.getBool("align_corners", false);
  std::string outside = node.getString("padding_mode", "zeros");
  if (outside == "border")
    rules.outside = Outside::Border;
  else if (outside == "reflection")
    rules.outside = Outside::Reflection;
  else if (outside != "zeros")
    return node.fail("attribute 'padding_mode' is '" + outside + "'");
  if (rules.mode != "linear" && rules.mode != "cubic" &&
      rules.mode != "nearest")
    return node.fail("attribute 'mode' is '" + rules.mode + "'");
  return rules;
}

/// A grid holds, in [-1, 1], the place along the last dimension first.
static LogicalResult importGridSample(NodeContext &node) {
  Value image = node.operand(0), grid = node.operand(1);
  auto rules = readGridRules(node);
  if (!image || !grid || !rules)
    return failure();
  int64_t rank = node.rank(image), dimensions = rank - 2;
  if (rank < 3 || rank > 5 || node.rank(grid) != rank ||
      (node.shape(grid).back() != dimensions &&
       !ShapedType::isDynamic(node.shape(grid).back())))
    return node.fail("the grid has not the image's rank, or not one place a "
                     "spatial dimension");
  Sampler sampler(node, widened(node, image));
  Arithmetic &a = sampler.a;
  Dims sizes = node.dims(grid);
  Dim count = node.product(ArrayRef(sizes).slice(1, dimensions));
  Value places = node.reshape(node.cast(grid, a.element),
                              ArrayRef<Dim>({sizes[0], count, dimensions}));
  SmallVector<SmallVector<Tap, 4>> taps;
  for (int64_t d = 0; d < dimensions && !node.failed(); ++d) {
    int64_t column = dimensions - 1 - d;
    Value x = node.reshape(node.sliceAxis(places, 2, column, column + 1),
                           ArrayRef<Dim>({sizes[0], 1, count}));
    x = a.add(x, 1);
    x = rules->alignCorners ? a.mul(a.div(x, 2), sampler.lastIndex(d))
                            : a.div(a.sub(a.mul(x, sampler.size(d)), 1), 2);
    taps.push_back(gridTaps(sampler, *rules, x, d));
  }
  if (node.failed())
    return failure();
  Value result = sampler.interpolate(taps);
  Dims shape{node.dim(image, 0), node.dim(image, 1)};
  shape.append(sizes.begin() + 1, sizes.end() - 1);
  return node.result(
      node.cast(node.reshape(result, shape), node.element(image)));
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

namespace {
struct RoiRules {
  int64_t bins[2];
  int64_t samples = 0;
  double scale = 1;
  bool halfPixel = false, maximum = false;
};
} // namespace

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
  Value steps = numbers(a.node, a.element, fractions,
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
  return {{base, select(a.node, inside, a.sub(1, t), zero)},
          {a.min(a.add(base, 1), last), select(a.node, inside, t, zero)}};
}

static std::optional<RoiRules> readRoiRules(NodeContext &node) {
  RoiRules rules;
  rules.bins[0] = node.getInt("output_height", 1);
  rules.bins[1] = node.getInt("output_width", 1);
  rules.samples = node.getInt("sampling_ratio", 0);
  rules.scale = node.getFloat("spatial_scale", 1);
  std::string coordinates =
      node.getString("coordinate_transformation_mode",
                     node.version() < 16 ? "output_half_pixel" : "half_pixel");
  rules.halfPixel = coordinates == "half_pixel";
  std::string mode = node.getString("mode", "avg");
  if (mode != "avg" && mode != "max")
    return node.fail("attribute 'mode' is not avg or max");
  rules.maximum = mode == "max";
  auto small = [](int64_t x) { return x >= 1 && x <= 4096; };
  if (!small(rules.bins[0]) || !small(rules.bins[1]) || rules.samples > 4096)
    return node.fail("a size is out of range");
  if (rules.samples < 1)
    return node.unsupported("a number of samples that depends on the regions");
  return rules;
}

/// Mean or maximum over samples in each bin of each region.
static LogicalResult importRoiAlign(NodeContext &node) {
  Value given = node.operand(0), batch = node.operand(2);
  Value x = widened(node, given), rois = widened(node, node.operand(1));
  auto rules = readRoiRules(node);
  if (!x || !rois || !batch || !rules)
    return failure();
  if (node.rank(x) != 4 || node.rank(rois) != 2 ||
      (node.shape(rois)[1] != 4 && !ShapedType::isDynamic(node.shape(rois)[1])))
    return node.fail("the image has not four dimensions, or a region not four "
                     "numbers");
  Value images = node.op<nn::TakeOp>(x, batch, uint64_t(0));
  if (!images)
    return failure();
  Sampler sampler(node, images);
  Arithmetic &a = sampler.a;
  Dim regions = node.dim(rois, 0);
  int64_t rows = rules->bins[0] * rules->samples;
  int64_t columns = rules->bins[1] * rules->samples;
  SmallVector<SmallVector<Tap, 4>> taps;
  for (int64_t d = 0; d < 2; ++d) {
    // A region is x1, y1, x2, y2.
    Value low = node.sliceAxis(rois, 1, 1 - d, 2 - d);
    Value high = node.sliceAxis(rois, 1, 3 - d, 4 - d);
    Value places = roiPlaces(a, *rules, low, high, rules->bins[d]);
    Dims grid{regions, d == 0 ? rows : 1, d == 0 ? 1 : columns};
    places = node.reshape(places, grid);
    Value all = node.broadcastInDim(
        places, ArrayRef<Dim>({regions, rows, columns}), {0, 1, 2});
    taps.push_back(roiTaps(
        sampler, node.reshape(all, ArrayRef<Dim>({regions, 1, rows * columns})),
        d));
  }
  // ONNX's maximum is that of the weighted pixels, not of their sums.
  Value sampled = node.reshape(
      sampler.interpolate(taps, rules->maximum),
      ArrayRef<Dim>({regions, node.dim(x, 1), rules->bins[0], rules->samples,
                     rules->bins[1], rules->samples}));
  Value result;
  if (rules->maximum)
    result = node.reduce<stablehlo::MaxOp>(
        sampled, {3, 5}, -std::numeric_limits<double>::infinity(), false);
  else
    result = a.div(node.reduce<stablehlo::AddOp>(sampled, {3, 5}, 0, false),
                   static_cast<double>(rules->samples) * rules->samples);
  return node.result(node.cast(result, node.element(given)));
}

llvm::ArrayRef<Operator> samplingOperators() {
  static const Operator table[] = {
      {"GridSample", "", 16, importGridSample, 2, 2},
      {"RoiAlign", "", 10, importRoiAlign, 3, 3},
  };
  return table;
}

} // namespace sinter::onnx
