// Window pooling, and interpolation.

#include "formats/paddle/write/WriterRules.h"
#include "graph/nn/NnOps.h"
#include <cmath>

using namespace mlir;

namespace sinter::paddle {

/// Pooling over two or three dimensions; one dimension is written as two.
static LogicalResult writePool(OperatorWriter &e, Value operand,
                               ArrayRef<int64_t> window,
                               ArrayRef<int64_t> strides, ArrayRef<int64_t> low,
                               ArrayRef<int64_t> high, bool isMax,
                               bool countsPadding) {
  Ints size(window), step(strides), pads;
  Var x = e.operand(operand);
  auto resultType = tensorOf(e.op->getResult(0));
  Ints shape(resultType.getShape());
  for (auto [before, after] : llvm::zip_equal(low, high)) {
    if (before < 0 || after < 0)
      return e.unsupported("that leaves elements out at the edges");
    pads.append({before, after});
  }
  if (size.empty() || size.size() > 3)
    return e.unsupported("over this number of dimensions");
  const bool isFlat = size.size() == 1;
  if (isFlat) {
    x = e.unsqueeze(x, {3});
    size.push_back(1);
    step.push_back(1);
    pads.append({0, 0});
    shape.push_back(1);
  }
  Var pooled = e.make(size.size() == 3 ? "pool3d" : "pool2d", {{"X", x}},
                      {{"pooling_type", isMax ? "max" : "avg"},
                       {"ksize", size},
                       {"strides", step},
                       {"paddings", pads},
                       {"global_pooling", false},
                       {"adaptive", false},
                       {"ceil_mode", false},
                       {"exclusive", !countsPadding},
                       {"padding_algorithm", "EXPLICIT"},
                       {"data_format", size.size() == 3 ? "NCDHW" : "NCHW"}},
                      e.typed(shape, x.element()));
  return e.alias(isFlat ? e.squeeze(pooled, {3}) : pooled);
}

static bool isDilated(ArrayRef<int64_t> dilations) {
  return llvm::any_of(dilations, [](int64_t each) { return each != 1; });
}

static LogicalResult writeMaxPool(OperatorWriter &e, nn::MaxPoolOp op) {
  if (isDilated(op.getDilations()))
    return e.unsupported("with dilation");
  return writePool(e, op.getOperand(), op.getWindow(), op.getStrides(),
                   op.getPaddingLow(), op.getPaddingHigh(), true, false);
}

/// Counted padding at the end counts only as much as the padding at the
/// beginning.
static LogicalResult writeAveragePool(OperatorWriter &e, nn::AveragePoolOp op) {
  if (isDilated(op.getDilations()))
    return e.unsupported("with dilation");
  if (op.getCountPadding())
    for (auto [i, high] : llvm::enumerate(op.getPaddingHigh())) {
      const int64_t low = op.getPaddingLow()[i];
      const int64_t uncounted =
          i < op.getCeilPadding().size() ? op.getCeilPadding()[i] : 0;
      if (uncounted != high - std::min(low, high))
        return e.unsupported("with more padding that counts at the end than at "
                             "the beginning");
    }
  return writePool(e, op.getOperand(), op.getWindow(), op.getStrides(),
                   op.getPaddingLow(), op.getPaddingHigh(), false,
                   op.getCountPadding());
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

namespace {
/// Paddle's attributes for the coordinate transformation.
struct Alignment {
  StringRef mode, coordinates;
  bool alignsCorners;
  int64_t alignMode;
};
} // namespace

static const Alignment alignments[] = {
    {"nearest", "asymmetric", false, 1},  {"nearest", "align_corners", true, 1},
    {"linear", "asymmetric", false, 1},   {"linear", "half_pixel", false, 0},
    {"linear", "align_corners", true, 1}, {"cubic", "half_pixel", false, 1},
    {"cubic", "align_corners", true, 1}};

static bool isWhole(double scale) {
  return scale >= 1 && scale == std::trunc(scale);
}

static std::optional<Alignment> alignmentOf(nn::ResizeOp op) {
  StringRef coordinates = op.getCoordinates();
  if (op.getMode() == "nearest") {
    // For integral factors the nearest centre is that of the element itself.
    if (coordinates == "half_pixel" && op.getNearest().starts_with("round") &&
        llvm::all_of(op.getScales(), isWhole))
      coordinates = "asymmetric";
    else if (op.getNearest() !=
             (coordinates == "align_corners" ? "round_prefer_ceil" : "floor"))
      return std::nullopt;
  }
  for (const Alignment &each : alignments)
    if (each.mode == op.getMode() && each.coordinates == coordinates)
      return each;
  return std::nullopt;
}

static LogicalResult writeResize(OperatorWriter &e, nn::ResizeOp op) {
  auto from = tensorOf(op.getOperand()), to = tensorOf(op.getResult());
  const int64_t spatial = from.getRank() - 2;
  auto alignment = alignmentOf(op);
  if (spatial < 1 || spatial > 3 || op.getScales()[0] != 1 ||
      op.getScales()[1] != 1 || op.getAntialias() || op.getExcludeOutside() ||
      !op.getRoi().empty() || !alignment ||
      (op.getMode() == "cubic" &&
       (spatial != 2 || op.getCubicCoefficient().convertToDouble() != -0.75)))
    return e.unsupported("in this way");
  Settings settings = {{"align_corners", alignment->alignsCorners},
                       {"align_mode", alignment->alignMode},
                       {"interp_method", op.getMode() == "nearest" ? "nearest"
                                         : op.getMode() == "cubic" ? "bicubic"
                                         : spatial == 1            ? "linear"
                                         : spatial == 2            ? "bilinear"
                                                        : "trilinear"},
                       {"data_layout", spatial == 3 ? "NCDHW" : "NCHW"}};
  static const char *sizes[] = {"out_d", "out_h", "out_w"};
  // By sizes if they have the same effect as the scales.
  bool bySizes = true;
  std::vector<double> scales;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t in = from.getDimSize(i + 2), out = to.getDimSize(i + 2);
    const double scale = op.getScales()[i + 2];
    scales.push_back(scale);
    bySizes &= !ShapedType::isDynamic(in) && !ShapedType::isDynamic(out) &&
               std::abs(scale * static_cast<double>(in) -
                        static_cast<double>(out)) < 1e-6;
  }
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t in = from.getDimSize(i + 2), out = to.getDimSize(i + 2);
    if (!bySizes && !ShapedType::isDynamic(in) &&
        static_cast<int64_t>(static_cast<float>(in) *
                             static_cast<float>(scales[i])) != out)
      return e.unsupported("to sizes that are not its scales'");
    settings.push_back({sizes[3 - spatial + i], bySizes ? out : -1});
  }
  settings.push_back({"scale", bySizes ? std::vector<double>() : scales});
  static const char *names[] = {"linear_interp_v2", "bilinear_interp_v2",
                                "trilinear_interp_v2"};
  return e.result(op.getMode() == "nearest" ? "nearest_interp_v2"
                  : op.getMode() == "cubic" ? "bicubic_interp_v2"
                                            : names[spatial - 1],
                  {{"X", e.operand(op.getOperand())}}, std::move(settings));
}

WriterRules poolingRules() {
  static const WriterRule rules[] = {writerRule<writeMaxPool>(),
                                     writerRule<writeAveragePool>(),
                                     writerRule<writeResize>()};
  return rules;
}

} // namespace sinter::paddle
