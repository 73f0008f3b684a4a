// Resize and Upsample.

#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Building.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

namespace {
/// One scale and one result size a dimension.
struct Resolution {
  SmallVector<double> scales;
  Ints sizes;
};
} // namespace

/// The axes that scales, sizes and roi speak of: all but for attribute `axes`.
static std::optional<Ints> resizedAxes(NodeContext &node, int64_t rank) {
  Ints all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Ints axes;
  for (int64_t each : node.getInts("axes", all)) {
    auto axis = node.axis(each, rank);
    if (!axis)
      return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

/// The elements of a known input of numbers, or of a list of numbers.
static std::optional<SmallVector<double>> knownNumbers(NodeContext &node,
                                                       int64_t input) {
  auto tensor = node.knownTensor(node.operand(input));
  if (!tensor)
    return node.unknown("input " + Twine(input) +
                        " depends on values that are known only when run");
  SmallVector<double> values;
  for (int64_t i = 0; i < tensor->size(); ++i)
    values.push_back(tensor->toDouble(i));
  return values;
}

/// Starts and ends, one a dimension: what is not given is the whole.
static std::optional<SmallVector<double>> readRoi(NodeContext &node, Value x,
                                                  ArrayRef<int64_t> axes) {
  auto given = knownNumbers(node, 1);
  if (!given)
    return std::nullopt;
  if (given->size() != 2 * axes.size())
    return node.fail("roi has not two elements an axis");
  int64_t rank = node.rank(x);
  SmallVector<double> roi(2 * rank, 0.0);
  std::fill(roi.begin() + rank, roi.end(), 1.0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    roi[axis] = (*given)[i];
    roi[axis + rank] = (*given)[i + axes.size()];
    if (!(roi[axis + rank] > roi[axis]))
      return node.unsupported("a region of interest that is empty or turned "
                              "round");
  }
  return roi;
}

/// The part of dimension \p axis that \p roi cuts out: all of it where there is
/// no region of interest.
static double extentOf(ArrayRef<double> roi, int64_t axis) {
  return roi.empty() ? 1 : roi[roi.size() / 2 + axis] - roi[axis];
}

/// A size is floor(size * scale), computed in f32 as the scale is; where a
/// region of interest is cut out, its size counts.
static std::optional<Resolution> fromScales(NodeContext &node, Value x,
                                            ArrayRef<int64_t> axes,
                                            ArrayRef<double> scales,
                                            ArrayRef<double> roi = {}) {
  if (scales.size() != axes.size())
    return node.fail("scales has " + Twine(scales.size()) + " elements, not " +
                     Twine(axes.size()));
  Resolution result{SmallVector<double>(node.rank(x), 1.0),
                    Ints(node.shape(x))};
  for (auto [axis, scale] : llvm::zip_equal(axes, scales)) {
    if (!(scale > 0) || scale > 1e6)
      return node.fail("a scale is out of range");
    result.scales[axis] = scale;
    int64_t &size = result.sizes[axis];
    if (!ShapedType::isDynamic(size))
      size = static_cast<int64_t>(std::floor(static_cast<float>(
          static_cast<double>(size) * extentOf(roi, axis) * scale)));
  }
  return result;
}

/// With a policy the same scale holds for all axes, that of the smallest or the
/// largest ratio, and sizes are rounded.
static std::optional<Resolution> fromSizes(NodeContext &node, Value x,
                                           ArrayRef<int64_t> axes,
                                           ArrayRef<double> roi) {
  auto sizes = node.knownElements(node.operand(node.inputCount() - 1));
  if (!sizes)
    return node.unknown("sizes are known only when run");
  if (sizes->size() != axes.size())
    return node.fail("sizes has " + Twine(sizes->size()) + " elements, not " +
                     Twine(axes.size()));
  Resolution result{SmallVector<double>(node.rank(x), 1.0),
                    Ints(node.shape(x))};
  double least = 0, most = 0;
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    if (extentOf(roi, axis) == 1 && size.kind != Element::Unknown &&
        size == node.importer.known.sizeOf(x, axis))
      continue;
    int64_t old = node.shape(x)[axis];
    if (size.isInteger() && (size.value < 1 || size.value > longestTable))
      return node.fail("a size is not positive or too large");
    if (!size.isInteger() || ShapedType::isDynamic(old))
      return node.unknown("the size of dimension " + Twine(axis) +
                          " is known only when run");
    if (old < 1)
      return node.fail("there is nothing to resize");
    double extent = extentOf(roi, axis);
    result.sizes[axis] = size.value;
    result.scales[axis] =
        static_cast<double>(size.value) / (static_cast<double>(old) * extent);
  }
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || axes.empty())
    return result;
  if (policy != "not_larger" && policy != "not_smaller")
    return node.fail("attribute 'keep_aspect_ratio_policy' is '" + policy +
                     "'");
  least = most = result.scales[axes.front()];
  for (int64_t axis : axes) {
    least = std::min(least, result.scales[axis]);
    most = std::max(most, result.scales[axis]);
  }
  double scale = policy == "not_larger" ? least : most;
  for (int64_t axis : axes) {
    if (ShapedType::isDynamic(node.shape(x)[axis]))
      return node.unknown("dimension " + Twine(axis) + " is not known");
    result.scales[axis] = scale;
    result.sizes[axis] =
        static_cast<int64_t>(std::floor(scale * node.shape(x)[axis] + 0.5));
  }
  return result;
}

static LogicalResult resize(NodeContext &node, Value x,
                            const Resolution &resolution, StringRef mode,
                            StringRef coordinates, StringRef nearest,
                            ArrayRef<double> roi = {}) {
  Builder &builder = node.builder();
  for (int64_t size : resolution.sizes)
    if (size > longestTable)
      return node.unsupported("a dimension of more than " +
                              Twine(longestTable) + " elements");
  Type type = node.tensorType(resolution.sizes, node.element(x));
  return node.result(node.typed<nn::ResizeOp>(
      type, x, builder.getDenseF64ArrayAttr(resolution.scales),
      builder.getStringAttr(mode), builder.getStringAttr(coordinates),
      builder.getStringAttr(nearest),
      builder.getF64FloatAttr(node.getFloat("cubic_coeff_a", -0.75)),
      builder.getF64FloatAttr(node.getFloat("extrapolation_value", 0)),
      builder.getBoolAttr(node.getBool("exclude_outside", false)),
      builder.getBoolAttr(node.getBool("antialias", false)),
      builder.getDenseF64ArrayAttr(roi)));
}

/// Upsample, and Resize as it was in opset 10: scales only, places taken as
/// they are, the nearest one below.
static LogicalResult importUpsample(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  std::optional<SmallVector<double>> scales;
  if (node.opType() == "Upsample" && node.version() < 9)
    scales = node.getFloats("scales");
  else
    scales = knownNumbers(node, 1);
  auto axes = resizedAxes(node, node.rank(x));
  if (!scales || !axes)
    return failure();
  auto resolution = fromScales(node, x, *axes, *scales);
  if (!resolution)
    return failure();
  std::string mode = node.getString("mode", "nearest");
  if (mode == "bilinear")
    mode = "linear";
  return resize(node, x, *resolution, mode, "asymmetric", "floor");
}

static LogicalResult importResize(NodeContext &node) {
  if (node.version() < 11)
    return importUpsample(node);
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto axes = resizedAxes(node, node.rank(x));
  if (!axes)
    return failure();
  std::string coordinates =
      node.getString("coordinate_transformation_mode", "half_pixel");
  SmallVector<double> roi;
  if (coordinates == "tf_crop_and_resize") {
    auto given = readRoi(node, x, *axes);
    if (!given)
      return failure();
    roi = std::move(*given);
  }
  std::optional<Resolution> resolution;
  // An empty list of scales says the same as none.
  bool useScales = node.has(2) && node.operand(2) &&
                   node.shape(node.operand(2)) != ArrayRef<int64_t>{0};
  if (useScales) {
    auto scales = knownNumbers(node, 2);
    resolution =
        scales ? fromScales(node, x, *axes, *scales, roi) : std::nullopt;
  } else if (node.has(3)) {
    resolution = fromSizes(node, x, *axes, roi);
  } else {
    return node.fail("neither scales nor sizes are given");
  }
  if (!resolution)
    return failure();
  return resize(node, x, *resolution, node.getString("mode", "nearest"),
                coordinates,
                node.getString("nearest_mode", "round_prefer_floor"), roi);
}

llvm::ArrayRef<Operator> resizingOperators() {
  static const Operator table[] = {
      {"Resize", "", 10, importResize, 1, 4},
      {"Upsample", "", 7, importUpsample, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
