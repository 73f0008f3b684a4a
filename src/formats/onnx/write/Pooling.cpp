// Pooling and resizing.

#include "formats/onnx/write/WriterRules.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

static Ints joined(ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  Ints pads(low);
  pads.append(high.begin(), high.end());
  return pads;
}

template <typename Op>
static NodeAttributes windowAttributes(Op op, ArrayRef<int64_t> low,
                                       ArrayRef<int64_t> high) {
  return {{"kernel_shape", op.getWindow()},
          {"strides", op.getStrides()},
          {"pads", joined(low, high)}};
}

static bool isDilated(ArrayRef<int64_t> dilations) {
  return llvm::any_of(dilations, [](int64_t each) { return each != 1; });
}

/// Padding as long as the window is an error in runtimes; it results from
/// rounding up with long strides.
template <typename Op> static bool padsTooMuch(Op op) {
  for (auto [i, size] : llvm::enumerate(op.getWindow()))
    if (op.getPaddingLow()[i] >= size || op.getPaddingHigh()[i] >= size)
      return true;
  return false;
}

/// The padding of all dimensions, for a separate Pad.
template <typename Op>
static Name padApart(NodeWriter &e, Op op, double filler) {
  Ints low(2, 0), high(2, 0);
  low.append(op.getPaddingLow().begin(), op.getPaddingLow().end());
  high.append(op.getPaddingHigh().begin(), op.getPaddingHigh().end());
  return e.pad(e.operand(op.getOperand()),
               e.scalar(elementOf(op.getOperand()), filler), low, high);
}

static LogicalResult writeMaxPool(NodeWriter &e, nn::MaxPoolOp op) {
  Name x = e.operand(op.getOperand());
  Ints low(op.getPaddingLow()), high(op.getPaddingHigh());
  if (padsTooMuch(op)) {
    if (!isa<FloatType>(elementOf(op.getOperand())))
      return e.unsupported("padded by more than its window");
    x = padApart(e, op, -std::numeric_limits<double>::infinity());
    low.assign(low.size(), 0);
    high = low;
  }
  NodeAttributes attributes = windowAttributes(op, low, high);
  if (isDilated(op.getDilations()))
    attributes.push_back({"dilations", op.getDilations()});
  return e.result("MaxPool", {x}, attributes);
}

static LogicalResult writeMaxPoolIndices(NodeWriter &e,
                                         nn::MaxPoolIndicesOp op) {
  if (padsTooMuch(op))
    return e.unsupported("padded by more than its window");
  NodeAttributes attributes =
      windowAttributes(op, op.getPaddingLow(), op.getPaddingHigh());
  attributes.push_back({"dilations", op.getDilations()});
  attributes.push_back({"storage_order", op.getColumnMajor()});
  Names both = e.makeMany("MaxPool", {e.operand(op.getOperand())}, attributes,
                          {true, true});
  return e.alias(both[1]);
}

static LogicalResult writeAveragePool(NodeWriter &e, nn::AveragePoolOp op) {
  Ints high(op.getPaddingHigh());
  bool ceils = false;
  for (auto [i, extra] : llvm::enumerate(op.getCeilPadding())) {
    high[i] -= extra;
    ceils |= extra != 0;
  }
  NodeAttributes attributes = windowAttributes(op, op.getPaddingLow(), high);
  attributes.push_back({"count_include_pad", op.getCountPadding()});
  if (ceils)
    attributes.push_back({"ceil_mode", 1});
  if (isDilated(op.getDilations())) {
    e.need(19);
    attributes.push_back({"dilations", op.getDilations()});
  }
  return e.result("AveragePool", {e.operand(op.getOperand())}, attributes);
}

static LogicalResult writeLpPool(NodeWriter &e, nn::LpPoolOp op) {
  NodeAttributes attributes =
      windowAttributes(op, op.getPaddingLow(), op.getPaddingHigh());
  attributes.push_back({"p", static_cast<int64_t>(op.getP())});
  if (isDilated(op.getDilations())) {
    e.need(18);
    attributes.push_back({"dilations", op.getDilations()});
  }
  return e.result("LpPool", {e.operand(op.getOperand())}, attributes);
}

/// The size that \p extent is scaled to; nothing if rounding the product to
/// f32, which only some runtimes do, makes a difference.
static std::optional<double> scaledSize(double extent, float scale) {
  double exact = std::floor(extent * scale);
  double rounded = std::floor(static_cast<float>(extent) * scale);
  return exact == rounded ? std::optional(exact) : std::nullopt;
}

/// \p scale in f32, or a neighbouring float that scales \p extent to \p size: 5
/// / 6 is slightly smaller in f32, and would scale 6 to 4.
static float scaleFor(double scale, double extent, int64_t size) {
  float single = static_cast<float>(scale);
  float next = std::nextafter(single, HUGE_VALF);
  return scaledSize(extent, single) != size && scaledSize(extent, next) == size
             ? next
             : single;
}

/// Written by scales if those give the result's sizes, else by the sizes.
static LogicalResult writeResize(NodeWriter &e, nn::ResizeOp op) {
  auto from = tensorOf(op.getOperand()), to = tensorOf(op.getResult());
  Tensor scales(ElementType::F32, {from.getRank()});
  // Whether the scales in f32 suffice, or neighbouring ones, or the sizes.
  bool byScales = true, byNext = true, bySizes = to.hasStaticShape();
  for (auto [i, scale] : llvm::enumerate(op.getScales())) {
    scales.set<float>(i, static_cast<float>(scale));
    if (ShapedType::isDynamic(from.getDimSize(i)))
      continue;
    double share = op.getRoi().empty()
                       ? 1
                       : op.getRoi()[from.getRank() + i] - op.getRoi()[i];
    double extent = static_cast<double>(from.getDimSize(i)) * share;
    int64_t size = to.getDimSize(i);
    float next = scaleFor(scale, extent, size);
    byScales &= scaledSize(extent, static_cast<float>(scale)) == size;
    byNext &= scaledSize(extent, next) == size;
    bySizes &= std::abs(extent * scale - size) < 1e-3;
    if (!to.hasStaticShape())
      scales.set<float>(i, next);
  }
  byScales |= byNext && !to.hasStaticShape();
  if (!byScales && !bySizes)
    return e.unsupported("to sizes that are not its scales'");
  NodeAttributes attributes = {
      {"mode", op.getMode()},
      {"coordinate_transformation_mode", op.getCoordinates()},
      {"nearest_mode", op.getNearest()},
      {"cubic_coeff_a", op.getCubicCoefficient().convertToDouble()},
      {"extrapolation_value", op.getExtrapolationValue().convertToDouble()},
      {"exclude_outside", op.getExcludeOutside()}};
  if (op.getAntialias()) {
    e.need(18);
    attributes.push_back({"antialias", 1});
  }
  if (op.getCoordinates() == "half_pixel_symmetric")
    e.need(19);
  Name roi;
  if (!op.getRoi().empty()) {
    Tensor bounds(ElementType::F32, {static_cast<int64_t>(op.getRoi().size())});
    for (auto [i, bound] : llvm::enumerate(op.getRoi()))
      bounds.set<float>(i, static_cast<float>(bound));
    roi = e.constant(bounds, "roi");
  }
  Name x = e.operand(op.getOperand());
  if (byScales)
    return e.result("Resize", {x, roi, e.constant(scales, "scales")},
                    attributes);
  return e.result("Resize", {x, roi, "", e.integers(to.getShape())},
                  attributes);
}

WriterRules poolingRules() {
  static const WriterRule rules[] = {
      writerRule<writeMaxPool>(), writerRule<writeMaxPoolIndices>(),
      writerRule<writeAveragePool>(), writerRule<writeLpPool>(),
      writerRule<writeResize>()};
  return rules;
}

} // namespace sinter::onnx
