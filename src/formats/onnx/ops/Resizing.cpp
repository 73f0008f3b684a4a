// Resize and Upsample.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/nn/DynamicResize.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

namespace {
/// One scale and one result size per dimension.
struct Resolution {
  SmallVector<double> scales;
  Ints sizes;
};
} // namespace

/// The axes that scales, sizes and roi apply to: all without attribute `axes`.
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

/// The elements of a known input, a tensor or a list.
static std::optional<SmallVector<double>> knownDoubles(NodeContext &node,
                                                       int64_t input) {
  auto tensor = node.knownTensor(node.operand(input));
  if (!tensor)
    return node.unknown("input " + Twine(input) +
                        " depends on values that are known only at run time");
  SmallVector<double> values;
  for (int64_t i = 0; i < tensor->size(); ++i)
    values.push_back(tensor->toDouble(i));
  return values;
}

/// Starts and ends, one per dimension: the whole dimension by default.
static std::optional<SmallVector<double>> readRoi(NodeContext &node, Value x,
                                                  ArrayRef<int64_t> axes) {
  auto given = knownDoubles(node, 1);
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

/// The fraction of dimension \p axis that \p roi crops: all of it without a
/// region of interest.
static double extentOf(ArrayRef<double> roi, int64_t axis) {
  return roi.empty() ? 1 : roi[roi.size() / 2 + axis] - roi[axis];
}

/// A size is floor(size * scale), computed in f32 like the scale; with a region
/// of interest, its size is scaled.
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
    return node.unknown("sizes are known only at run time");
  if (sizes->size() != axes.size())
    return node.fail("sizes has " + Twine(sizes->size()) + " elements, not " +
                     Twine(axes.size()));
  Resolution result{SmallVector<double>(node.rank(x), 1.0),
                    Ints(node.shape(x))};
  double least = 0, most = 0;
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    if (extentOf(roi, axis) == 1 && size.kind != Element::Unknown &&
        size == node.known().sizeOf(x, axis))
      continue;
    int64_t old = node.size(x, axis);
    if (size.isInteger() &&
        (size.value < 1 || size.value > formats::longestTable))
      return node.fail("a size is not positive or too large");
    if (!size.isInteger() || ShapedType::isDynamic(old))
      return node.unknown("the size of dimension " + Twine(axis) +
                          " is known only at run time");
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
    if (ShapedType::isDynamic(node.size(x, axis)))
      return node.unknown("dimension " + Twine(axis) + " is unknown");
    result.scales[axis] = scale;
    result.sizes[axis] =
        static_cast<int64_t>(std::floor(scale * node.size(x, axis) + 0.5));
  }
  return result;
}

static LogicalResult resize(NodeContext &node, Value x,
                            const Resolution &resolution, StringRef mode,
                            StringRef coordinates, StringRef nearest,
                            ArrayRef<double> roi = {}) {
  Builder &builder = node.builder();
  for (int64_t size : resolution.sizes)
    if (size > formats::longestTable)
      return node.unsupported("a dimension of more than " +
                              Twine(formats::longestTable) + " elements");
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

//===----------------------------------------------------------------------===//
// Sizes or scales that are known only at run time
//===----------------------------------------------------------------------===//

namespace {
/// The attributes and operands of the op that resizeDynamic builds.
struct DynamicResolution {
  /// The axes that change.
  SmallVector<std::pair<int64_t, nn::DynamicAxis>> axes;
};
} // namespace

/// Element \p index of a vector as a scalar of f64.
static Value numberIn(nn::TensorBuilder &emit, Value list, int64_t index) {
  Value one = emit.reshape(emit.slice(list, 0, index, index + 1), {});
  return emit.convert(one, emit.builder.getF64Type());
}

/// The resolution by the scales in input \p scales, or else by the sizes in
/// \p sizes.
static std::optional<DynamicResolution>
readDynamic(NodeContext &node, nn::TensorBuilder &emit, Value x,
            ArrayRef<int64_t> axes, Value scales, Value sizes,
            ArrayRef<double> roi) {
  Value list = scales ? scales : sizes;
  if (node.rank(list) != 1 ||
      node.size(list, 0) != static_cast<int64_t>(axes.size()))
    return node.unknown("the number of scales or sizes is unknown");
  DynamicResolution result;
  const int64_t rank = node.rank(x);
  auto known = scales ? std::nullopt : node.knownElements(sizes);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    nn::DynamicAxis open{nn::Size::of(x, axis), 0, {}, {}};
    if (!roi.empty()) {
      open.roiStart = roi[axis];
      open.roiEnd = roi[rank + axis];
    }
    const bool stays = extentOf(roi, axis) == 1 && known &&
                       (*known)[i].kind != Element::Unknown &&
                       (*known)[i] == node.known().sizeOf(x, axis);
    if (stays)
      continue;
    if (scales) {
      open.dynamicScale = numberIn(emit, scales, i);
      open.out = nn::scaledSize(emit, open);
    } else if (known && (*known)[i].isInteger()) {
      open.out = (*known)[i].value;
    } else {
      open.out = nn::Size::computed(
          emit.convert(emit.slice(sizes, 0, i, i + 1), emit.integerType(32)));
    }
    result.axes.push_back({axis, open});
  }
  return result;
}

/// Sets the same scale for all axes, the smallest or the largest, and rounds
/// the sizes that follow.
static void keepAspectRatio(nn::TensorBuilder &emit,
                            DynamicResolution &resolution, bool isNotLarger) {
  Type f64 = emit.builder.getF64Type();
  Value scale;
  for (auto &[axis, open] : resolution.axes) {
    Value ratio =
        emit.div(emit.number(open.out, f64), emit.number(open.in, f64));
    scale = !scale        ? ratio
            : isNotLarger ? emit.min(scale, ratio)
                          : emit.max(scale, ratio);
  }
  for (auto &[axis, open] : resolution.axes) {
    Value size = emit.add(emit.mul(emit.number(open.in, f64), scale), 0.5);
    Value whole =
        emit.convert(emit.make<stablehlo::FloorOp>(size), emit.integerType(32));
    open.dynamicScale = scale;
    open.out = nn::Size::computed(emit.reshape(whole, {1}));
  }
}

static LogicalResult resizeDynamic(NodeContext &node, nn::TensorBuilder &emit,
                                   Value x, const DynamicResolution &resolution,
                                   const nn::ResizeForm &form) {
  Type element = node.element(x);
  const bool isWide =
      form.mode == "nearest" || element.isF32() || element.isF64();
  if (!isWide)
    x = emit.convert(x, emit.builder.getF32Type());
  SmallVector<std::pair<int64_t, Value>> outsides;
  for (const auto &[axis, open] : resolution.axes) {
    if (!nn::hasDynamicForm(form, open))
      return node.unknown("how many elements an antialiased one is made of "
                          "depends on sizes that are known only at run time");
    Value outside;
    x = nn::resizeAlongDynamic(emit, form, open, x, axis, outside);
    if (outside)
      outsides.push_back({axis, outside});
  }
  for (auto [axis, outside] : outsides)
    x = emit.select(emit.broadcast(outside, {axis}, emit.sizes(x)),
                    emit.splatLike(node.getFloat("extrapolation_value", 0), x),
                    x);
  return node.result(emit.convert(x, element));
}

/// Upsample, and Resize of opset 10: scales only (before opset 7 of height and
/// width), asymmetric coordinates, nearest rounds down.
static LogicalResult importUpsample(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  std::optional<SmallVector<double>> scales;
  if (node.opType() == "Upsample" && node.version() < 7)
    scales = SmallVector<double>{1, 1, node.getFloat("height_scale", 1),
                                 node.getFloat("width_scale", 1)};
  else if (node.opType() == "Upsample" && node.version() < 9)
    scales = node.getFloats("scales");
  else
    scales = knownDoubles(node, 1);
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
  const std::string mode = node.getString("mode", "nearest");
  const std::string nearest =
      node.getString("nearest_mode", "round_prefer_floor");
  std::optional<Resolution> resolution;
  // An empty list of scales equals none.
  bool useScales = node.has(2) && node.operand(2) &&
                   node.shape(node.operand(2)) != ArrayRef<int64_t>{0};
  const bool isDynamic =
      useScales ? !node.knownTensor(node.operand(2))
                : node.has(3) &&
                      (!node.isStatic(x) || !node.knownTensor(node.operand(3)));
  if (node.expandsUnknown() && isDynamic) {
    nn::TensorBuilder emit(node.builder(), node.location());
    auto open =
        readDynamic(node, emit, x, *axes, useScales ? node.operand(2) : Value(),
                    useScales ? Value() : node.operand(3), roi);
    if (!open)
      return failure();
    const std::string policy =
        node.getString("keep_aspect_ratio_policy", "stretch");
    if (!useScales && policy != "stretch")
      keepAspectRatio(emit, *open, policy == "not_larger");
    return resizeDynamic(node, emit, x, *open,
                         {mode, coordinates, nearest,
                          node.getFloat("cubic_coeff_a", -0.75),
                          node.getBool("exclude_outside", false),
                          node.getBool("antialias", false)});
  }
  if (useScales) {
    auto scales = knownDoubles(node, 2);
    resolution =
        scales ? fromScales(node, x, *axes, *scales, roi) : std::nullopt;
  } else if (node.has(3)) {
    resolution = fromSizes(node, x, *axes, roi);
  } else {
    return node.fail("neither scales nor sizes are given");
  }
  if (!resolution)
    return failure();
  return resize(node, x, *resolution, mode, coordinates, nearest, roi);
}

llvm::ArrayRef<Operator> resizingOperators() {
  static const Operator table[] = {
      {"Resize", "", 10, importResize, 1, 4},
      {"Upsample", "", 1, importUpsample, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
