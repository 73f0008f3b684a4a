// Operators that sample images with interpolation.

#include "formats/import/Sampling.h"
#include "formats/import/Building.h"
#include "formats/import/DeformedConvolution.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Window.h"
#include <limits>

using namespace mlir;

using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

using formats::GridRules;
using formats::RoiRules;

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
    rules.outside = GridRules::Outside::Border;
  else if (outside == "reflection")
    rules.outside = GridRules::Outside::Reflection;
  else if (outside != "zeros")
    return node.fail("attribute 'padding_mode' is '" + outside + "'");
  if (rules.mode != "linear" && rules.mode != "cubic" &&
      rules.mode != "nearest")
    return node.fail("attribute 'mode' is '" + rules.mode + "'");
  return rules;
}

static LogicalResult importGridSample(NodeContext &node) {
  Value image = node.operand(0), grid = node.operand(1);
  auto rules = readGridRules(node);
  if (!image || !grid || !rules)
    return failure();
  return node.result(sampleGrid(node, image, grid, *rules));
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

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
  rules.samples = std::max<int64_t>(rules.samples, 0);
  return rules;
}

static LogicalResult importRoiAlign(NodeContext &node) {
  auto rules = readRoiRules(node);
  if (!rules)
    return failure();
  return node.result(alignRegions(node, node.operand(0), node.operand(1),
                                  node.operand(2), *rules));
}

//===----------------------------------------------------------------------===//
// MaxRoiPool (Girshick, Fast R-CNN, 2015)
//===----------------------------------------------------------------------===//

namespace {
/// The bins of all regions along one dimension: which pixels [R, bins, size]
/// are in a bin, and whether it has none [R, bins].
struct Bins {
  Value holds, isEmpty;
};
} // namespace

/// Bin p of a region from pixel `start` to `end`, both included: the pixels
/// from floor(p * length / count) up to ceil((p + 1) * length / count), as far
/// as they lie in the image.
static Bins binsAlong(NodeContext &node, Value start, Value end,
                      const Dim &size, int64_t count) {
  const Type f32 = node.f32();
  auto number = [&](double value) { return node.scalar(f32, value); };
  auto add = [&](Value a, Value b) {
    return node.binary<stablehlo::AddOp>(a, b);
  };
  Value length = node.binary<stablehlo::MaxOp>(
      add(node.binary<stablehlo::SubtractOp>(end, start), number(1)),
      number(1));
  Value bin =
      node.binary<stablehlo::DivOp>(length, number(static_cast<double>(count)));
  Value index = formats::iota(node, {1, count}, 1, f32);
  Value limit = formats::sizeScalar(node, size, f32);
  auto inside = [&](Value place) {
    return node.binary<stablehlo::MinOp>(
        node.binary<stablehlo::MaxOp>(add(place, start), number(0)), limit);
  };
  Value first = inside(
      node.op<stablehlo::FloorOp>(node.binary<stablehlo::MulOp>(index, bin)));
  Value last = inside(node.op<stablehlo::CeilOp>(
      node.binary<stablehlo::MulOp>(add(index, number(1)), bin)));
  Value pixel = formats::iota(node, {1, 1, size}, 2, f32);
  Value holds = node.binary<stablehlo::AndOp>(
      node.compare(pixel, node.unsqueeze(first, {2}), ComparisonDirection::GE),
      node.compare(pixel, node.unsqueeze(last, {2}), ComparisonDirection::LT));
  return {holds, node.compare(last, first, ComparisonDirection::LE)};
}

/// The greatest elements of \p x [R, C, a, size] in each bin: [R, C, bins, a].
static Value greatestIn(NodeContext &node, const Bins &bins, Value x) {
  // [R, 1, bins, 1, size] and [R, C, 1, a, size].
  Value least =
      node.scalar(node.element(x), -std::numeric_limits<double>::infinity());
  Value chosen = formats::select(node, node.unsqueeze(bins.holds, {1, 3}),
                                 node.unsqueeze(x, {2}), least);
  return node.reduce<stablehlo::MaxOp>(
      chosen, {4}, -std::numeric_limits<double>::infinity(), false);
}

/// The maximum of the image in each bin of each region (image, x1, y1, x2, y2);
/// 0 for a bin without pixels.
static LogicalResult importMaxRoiPool(NodeContext &node) {
  Value image = node.operand(0), regions = node.operand(1);
  const Ints counts = node.getInts("pooled_shape");
  if (node.rank(image) != 4 || node.rank(regions) != 2)
    return node.fail("the image has not four dimensions, or the regions not "
                     "two");
  if (node.size(regions, 1) != 5 && !node.isStatic(regions))
    return node.unknown("the number of coordinates is unknown");
  if (node.size(regions, 1) != 5)
    return node.fail("a region has not five elements");
  auto isCount = [](int64_t count) { return count >= 1 && count <= 4096; };
  if (counts.size() != 2 || !llvm::all_of(counts, isCount))
    return node.fail("attribute 'pooled_shape' is not two positive numbers");
  const Type f32 = node.f32(), element = node.element(image);
  Value scale = node.scalar(f32, node.getFloat("spatial_scale", 1));
  Value wide = node.cast(regions, f32);
  auto coordinate = [&](int64_t column) {
    return node.op<stablehlo::RoundOp>(node.binary<stablehlo::MulOp>(
        node.sliceAxis(wide, 1, column, column + 1), scale));
  };
  Value number =
      node.cast(node.squeeze(node.sliceAxis(wide, 1, 0, 1), {1}), node.i64());
  const Bins rows = binsAlong(node, coordinate(2), coordinate(4),
                              node.dim(image, 2), counts[0]);
  const Bins columns = binsAlong(node, coordinate(1), coordinate(3),
                                 node.dim(image, 3), counts[1]);
  Value x = node.op<nn::TakeOp>(image, number, uint64_t(0));
  if (node.failed())
    return failure();
  Value result = greatestIn(node, rows, greatestIn(node, columns, x));
  Value isEmpty =
      node.binary<stablehlo::OrOp>(node.unsqueeze(rows.isEmpty, {1, 3}),
                                   node.unsqueeze(columns.isEmpty, {1, 2}));
  return node.result(
      formats::select(node, isEmpty, node.scalar(element, 0), result));
}

//===----------------------------------------------------------------------===//
// AffineGrid
//===----------------------------------------------------------------------===//

/// The coordinates of \p size pixels along dimension \p axis of a grid, which
/// has \p rank: from -1 to 1, the centres or, with \p alignCorners not, the
/// edges of the outermost ones.
static Value coordinates(NodeContext &node, const Dim &size, int64_t axis,
                         int64_t rank, bool alignCorners, Type element) {
  Dims line(rank, Dim(1));
  line[axis] = size;
  Value count = formats::sizeScalar(node, size, element);
  auto number = [&](double value) { return node.scalar(element, value); };
  Value index = formats::iota(node, line, axis, element);
  if (alignCorners) {
    Value steps = node.binary<stablehlo::MaxOp>(
        node.binary<stablehlo::SubtractOp>(count, number(1)), number(1));
    Value twice = node.binary<stablehlo::MulOp>(index, number(2));
    return node.binary<stablehlo::SubtractOp>(
        node.binary<stablehlo::DivOp>(twice, steps), number(1));
  }
  // The centre of pixel i is (2 i + 1) / size - 1.
  Value odd = node.binary<stablehlo::AddOp>(
      node.binary<stablehlo::MulOp>(index, number(2)), number(1));
  return node.binary<stablehlo::SubtractOp>(
      node.binary<stablehlo::DivOp>(odd, count), number(1));
}

/// The last \p count elements of the list `size`, as sizes.
static std::optional<Dims> gridSizes(NodeContext &node, int64_t count) {
  Value list = node.operand(1);
  if (node.rank(list) != 1 || node.size(list, 0) != count + 2)
    return node.fail("the size has not " + Twine(count + 2) + " elements");
  auto known = node.knownElements(list);
  Dims sizes;
  for (int64_t i = 2; i < count + 2; ++i) {
    if (known && (*known)[i].isInteger()) {
      if ((*known)[i].value < 0)
        return node.fail("a size is negative");
      sizes.push_back((*known)[i].value);
    } else {
      sizes.push_back(
          Dim(ShapedType::kDynamic,
              node.cast(node.sliceAxis(list, 0, i, i + 1), node.i64())));
    }
  }
  return sizes;
}

/// theta [N, d, d + 1] times the homogeneous coordinates of each pixel, the
/// last dimension's first: [N, sizes..., d].
static LogicalResult importAffineGrid(NodeContext &node) {
  Value theta = node.operand(0);
  if (node.rank(theta) != 3)
    return node.fail("theta has not three dimensions");
  const int64_t count = node.size(theta, 1);
  if (ShapedType::isDynamic(count))
    return node.unknown("the number of dimensions is unknown");
  if ((count != 2 && count != 3) || node.size(theta, 2) != count + 1)
    return node.fail("theta is not [N, 2, 3] or [N, 3, 4]");
  auto sizes = gridSizes(node, count);
  if (!sizes)
    return failure();
  const Type element = node.element(theta),
             wide = formats::sumElement(node, theta);
  const bool alignCorners = node.getBool("align_corners", false);
  Dims shape(*sizes);
  shape.push_back(1);
  Values columns;
  for (int64_t i = count; i-- > 0;) {
    Value line =
        coordinates(node, (*sizes)[i], i, count + 1, alignCorners, wide);
    columns.push_back(node.broadcastInDim(
        line, shape, llvm::to_vector(llvm::seq<int64_t>(0, count + 1))));
  }
  columns.push_back(node.broadcastInDim(node.scalar(wide, 1), shape, {}));
  Value points = node.concatenate(columns, count);
  Value grid = formats::dotGeneral(node, node.cast(theta, wide), points, {}, {},
                                   {2}, {count});
  if (!grid)
    return failure();
  Ints order = {0};
  for (int64_t i = 0; i < count; ++i)
    order.push_back(i + 2);
  order.push_back(1);
  return node.result(node.cast(node.transpose(grid, order), element));
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

static LogicalResult importDeformConv(NodeContext &node) {
  formats::DeformedConvolution form;
  form.input = node.operand(0);
  form.filter = node.operand(1);
  form.offset = node.operand(2);
  form.mask = node.operand(4);
  form.groups = node.getInt("group", 1);
  form.offsetGroups = node.getInt("offset_group", 1);
  if (node.failed())
    return failure();
  if (node.rank(form.input) != 4 || node.rank(form.filter) != 4)
    return node.unsupported("an image that has not two spatial dimensions");
  auto window =
      readWindow(node, form.input, node.shape(form.filter).drop_front(2));
  if (!window)
    return failure();
  if (window->isDynamic())
    return node.unknown("the image's size is unknown");
  form.strides = window->strides;
  form.low = window->low;
  form.high = window->high;
  form.dilations = window->dilations;
  const Type element = node.element(form.input),
             wide = formats::sumElement(node, form.input);
  Value result = formats::deformedConvolution(node, form, wide);
  if (node.has(3)) {
    Value bias = node.cast(node.operand(3), wide);
    if (node.rank(bias) != 1)
      return node.fail("the bias is not a vector");
    result = node.binary<stablehlo::AddOp>(
        result, node.alongDimension(bias, result, 1));
  }
  return node.result(node.cast(result, element));
}

llvm::ArrayRef<Operator> samplingOperators() {
  static const Operator table[] = {
      {"AffineGrid", "", 20, importAffineGrid, 2, 2, false, true},
      {"DeformConv", "", 19, importDeformConv, 3, 5, false, true},
      {"GridSample", "", 16, importGridSample, 2, 2},
      {"GridSample", runtimeDomain, 1, importGridSample, 2, 2, false, true},
      {"MaxRoiPool", "", 1, importMaxRoiPool, 2, 2, false, true},
      {"RoiAlign", "", 10, importRoiAlign, 3, 3},
  };
  return table;
}

} // namespace sinter::onnx
