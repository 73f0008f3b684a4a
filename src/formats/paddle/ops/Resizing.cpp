// Interpolation of images, in both generations.

#include "formats/import/Building.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"
#include "graph/nn/DynamicResize.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::paddle {

namespace {
/// The target of one spatial dimension: a size, or a scale.
struct Target {
  /// The size, static or dynamic; unused if `scale` is set.
  Dim size = 0;
  std::optional<double> scale;
};

/// The coordinate transformation, in the terms of `nn.resize`.
struct Interpolation {
  StringRef mode, coordinates, nearest;
  /// Whether the ratio is 1 / scale if a scale is given, as in the second
  /// generation, or always the ratio of the sizes.
  bool takesScale = true;
};
} // namespace

/// A scale from an attribute, or a tensor in slot Scale: none, one for all or
/// one per dimension. Fails if one is not positive.
static std::optional<SmallVector<double>> readScales(OperatorContext &op,
                                                     size_t spatial) {
  SmallVector<double> scales;
  if (op.has("Scale")) {
    auto known = op.knownTensor(op.operand("Scale"));
    if (!known)
      return op.unknown("the scale is known only at run time");
    for (int64_t i = 0; i < known->size(); ++i)
      scales.push_back(known->toDouble(i));
  } else {
    scales = op.getFloats("scale");
  }
  if (scales.size() == 1)
    scales.assign(spatial, scales.front());
  if (op.failed())
    return std::nullopt;
  if (llvm::all_of(scales, [](double each) { return each == 0; }))
    scales.clear();
  if (!scales.empty() && scales.size() != spatial)
    return op.fail("there are " + Twine(scales.size()) + " scales for " +
                   Twine(spatial) + " dimensions");
  for (double each : scales)
    if (!(each > 0) || each > 1e6)
      return op.fail("a scale is not positive or too large");
  return scales;
}

/// The sizes given by tensors.
static bool readSizeTensors(OperatorContext &op,
                            SmallVectorImpl<Target> &targets) {
  Value list = op.integersValue({"SizeTensor", "OutSize"}, "");
  if (!list)
    return false;
  if (op.rank(list) != 1 || op.size(list, 0) != int64_t(targets.size())) {
    op.fail("the sizes are not one a spatial dimension");
    return false;
  }
  auto known = op.knownElements(list);
  for (auto [i, target] : llvm::enumerate(targets)) {
    if (known && (*known)[i].isInteger())
      target.size = Dim((*known)[i].value);
    else
      target.size = Dim(ShapedType::kDynamic, op.sliceAxis(list, 0, i, i + 1));
  }
  return true;
}

/// In order of precedence: sizes as tensors, a scale, sizes as attributes.
static std::optional<SmallVector<Target>> readTargets(OperatorContext &op,
                                                      int64_t spatial) {
  SmallVector<Target> targets(spatial);
  if (op.has("SizeTensor") || op.has("OutSize"))
    return readSizeTensors(op, targets) ? std::optional(targets) : std::nullopt;
  auto scales = readScales(op, spatial);
  if (!scales)
    return std::nullopt;
  static constexpr StringRef names[] = {"out_d", "out_h", "out_w"};
  ArrayRef<StringRef> own = spatial == 1
                                ? ArrayRef<StringRef>(names).take_back(1)
                                : ArrayRef<StringRef>(names).take_back(spatial);
  for (auto [i, target] : llvm::enumerate(targets)) {
    if (!scales->empty())
      target.scale = (*scales)[i];
    else
      target.size = Dim(op.getInt(own[i], -1));
  }
  return op.failed() ? std::nullopt : std::optional(targets);
}

/// Whether element \p index of the sizes equals dimension \p axis of \p x.
static bool stays(OperatorContext &op, Value x, int64_t axis,
                  const Target &target) {
  if (target.scale)
    return *target.scale == 1;
  if (target.size.isStatic())
    return target.size.size == op.size(x, axis);
  auto known = op.knownElements(target.size.extent);
  return known && known->size() == 1 &&
         known->front().kind != formats::Element::Unknown &&
         known->front() == op.known().sizeOf(x, axis);
}

/// Resizes to sizes that are known only at run time.
static Value resizeDynamic(OperatorContext &op, Value x,
                           const Interpolation &how, ArrayRef<Target> targets) {
  nn::TensorBuilder emit(op.builder(), op.location());
  Type element = op.element(x);
  if (how.mode != "nearest")
    x = formats::widened(op, x);
  const nn::ResizeForm form{how.mode, how.coordinates, how.nearest};
  for (auto [i, target] : llvm::enumerate(targets)) {
    const auto axis = static_cast<int64_t>(i) + 2;
    if (stays(op, x, axis, target))
      continue;
    nn::DynamicAxis open{nn::Size::of(x, axis), 0, {}, {}};
    if (target.scale) {
      open.scale = target.scale;
      open.out = nn::scaledSize(emit, open);
      if (!how.takesScale)
        open.scale.reset();
    } else if (target.size.isStatic()) {
      open.out = target.size.size;
    } else {
      open.out = nn::Size::computed(
          emit.convert(target.size.extent, emit.integerType(32)));
    }
    Value outside;
    x = nn::resizeAlongDynamic(emit, form, open, x, axis, outside);
  }
  return op.cast(x, element);
}

/// Resizes to sizes that are static, or follow from scales.
static Value resizeStatic(OperatorContext &op, Value x,
                          const Interpolation &how, ArrayRef<int64_t> sizes,
                          ArrayRef<double> scales) {
  Builder &builder = op.builder();
  for (int64_t size : sizes)
    if (size > formats::longestTable)
      return op.unsupported("a dimension of more than " +
                            Twine(formats::longestTable) + " elements");
  return op.typed<nn::ResizeOp>(
      op.tensorType(sizes, op.element(x)), x,
      builder.getDenseF64ArrayAttr(scales), builder.getStringAttr(how.mode),
      builder.getStringAttr(how.coordinates),
      builder.getStringAttr(how.nearest), builder.getF64FloatAttr(-0.75),
      builder.getF64FloatAttr(0), builder.getBoolAttr(false),
      builder.getBoolAttr(false), builder.getDenseF64ArrayAttr({}));
}

static Value resize(OperatorContext &op, Value x, const Interpolation &how) {
  const int64_t spatial = op.rank(x) - 2;
  if (spatial < 1 || spatial > 3)
    return op.fail("X has not one to three spatial dimensions");
  auto targets = readTargets(op, spatial);
  if (!targets)
    return {};
  SmallVector<double> scales(2, 1.0);
  Ints sizes(op.shape(x).take_front(2));
  bool isDynamic = false;
  for (auto [i, target] : llvm::enumerate(*targets)) {
    const int64_t in = op.size(x, i + 2);
    const bool isKnown = !ShapedType::isDynamic(in);
    if (stays(op, x, static_cast<int64_t>(i) + 2, target)) {
      sizes.push_back(in);
      scales.push_back(1);
      continue;
    }
    int64_t out = target.size.size;
    if (target.scale)
      out = isKnown ? static_cast<int64_t>(static_cast<float>(in) *
                                           static_cast<float>(*target.scale))
                    : ShapedType::kDynamic;
    if (!ShapedType::isDynamic(out) && out < 1)
      return op.fail("a size that is asked for is not positive");
    if (isKnown && in < 1)
      return op.fail("there is nothing to interpolate");
    sizes.push_back(out);
    // If the size grows by an integral factor, the two ratios are equal.
    const bool isScale =
        target.scale &&
        (how.takesScale || (!isKnown && *target.scale >= 1 &&
                            *target.scale == std::trunc(*target.scale)));
    if (isScale)
      scales.push_back(*target.scale);
    else if (isKnown && !ShapedType::isDynamic(out))
      scales.push_back(static_cast<double>(out) / static_cast<double>(in));
    else
      isDynamic = true;
  }
  if (!isDynamic)
    return resizeStatic(op, x, how, sizes, scales);
  if (!op.expandsUnknown())
    return op.unknown("how sizes relate is known only at run time; give the "
                      "input's with " +
                      optionText("shape"));
  return op.failed() ? Value() : resizeDynamic(op, x, how, *targets);
}

/// The coordinates: with aligned corners corner pixels coincide; else pixels
/// begin at i * ratio, or with align_mode 0 their centres are aligned.
static LogicalResult interpolate(OperatorContext &op, StringRef mode,
                                 bool isSecond) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  const bool isLast = hasChannelsLast(op, "data_layout");
  if (isLast)
    x = channelsFirst(op, x);
  const bool alignsCorners = op.getBool("align_corners", true);
  const int64_t alignMode = op.getInt("align_mode", 1);
  if (alignMode != 0 && alignMode != 1)
    return op.fail("attribute 'align_mode' is not 0 or 1");
  Interpolation how{mode, "asymmetric", "floor", isSecond};
  if (alignsCorners) {
    how.coordinates = "align_corners";
    how.nearest = "round_prefer_ceil";
  } else if (mode == "cubic" || (mode == "linear" && alignMode == 0)) {
    how.coordinates = "half_pixel";
  }
  Value result = op.failed() ? Value() : resize(op, x, how);
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}

static LogicalResult importNearest(OperatorContext &op) {
  return interpolate(op, "nearest", false);
}
static LogicalResult importNearestV2(OperatorContext &op) {
  return interpolate(op, "nearest", true);
}
static LogicalResult importLinear(OperatorContext &op) {
  return interpolate(op, "linear", false);
}
static LogicalResult importLinearV2(OperatorContext &op) {
  return interpolate(op, "linear", true);
}
static LogicalResult importCubic(OperatorContext &op) {
  return interpolate(op, "cubic", false);
}
static LogicalResult importCubicV2(OperatorContext &op) {
  return interpolate(op, "cubic", true);
}

OperatorReaders resizeReaders() {
  static const OperatorReader table[] = {
      {"bicubic_interp", importCubic},
      {"bicubic_interp_v2", importCubicV2},
      {"bilinear_interp", importLinear},
      {"bilinear_interp_v2", importLinearV2},
      {"linear_interp", importLinear},
      {"linear_interp_v2", importLinearV2},
      {"nearest_interp", importNearest},
      {"nearest_interp_v2", importNearestV2},
      {"trilinear_interp", importLinear},
      {"trilinear_interp_v2", importLinearV2},
  };
  return table;
}

} // namespace sinter::paddle
