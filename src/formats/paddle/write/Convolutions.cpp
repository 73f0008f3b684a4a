// Convolutions, plain and transposed.

#include "formats/import/MatMul.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::paddle {

namespace {
/// A convolution in Paddle's layout: [N, C, spatial...] with a filter [O, I /
/// groups, spatial...], or of a transposed one [I, O / groups, spatial...].
struct Convolution {
  Var x, filter;
  stablehlo::ConvolutionWindow window;
  int64_t groups = 1;
  /// The operator's result type.
  RankedTensorType result;

  int64_t spatial() const { return static_cast<int64_t>(window.size()); }
};
} // namespace

static Ints channelsFirst(int64_t first, int64_t second,
                          ArrayRef<int64_t> spatial) {
  Ints list = {first, second};
  list.append(spatial.begin(), spatial.end());
  return list;
}

static RankedTensorType permuted(RankedTensorType type,
                                 ArrayRef<int64_t> order) {
  Ints shape;
  for (int64_t from : order)
    shape.push_back(type.getDimSize(from));
  return RankedTensorType::get(shape, type.getElementType());
}

static Var makeConvolution(OperatorWriter &e, const Convolution &c,
                           StringRef kind, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> dilations, Ints pads,
                           ArrayRef<int64_t> more = {}) {
  // Depthwise convolutions are another operator.
  const bool isDepthwise =
      c.groups > 1 && c.spatial() == 2 && c.x.shape()[1] == c.groups;
  const std::string type = (isDepthwise ? "depthwise_conv" : "conv") +
                           std::to_string(c.spatial()) + "d" + kind.str();
  // Symmetric paddings, the only ones in older generations.
  Ints same;
  for (size_t i = 0; i + 1 < pads.size() && pads[i] == pads[i + 1]; i += 2)
    same.push_back(pads[i]);
  if (same.size() * 2 == pads.size())
    pads = same;
  Settings settings = {{"strides", Ints(strides)},
                       {"paddings", pads},
                       {"dilations", Ints(dilations)},
                       {"groups", c.groups},
                       {"padding_algorithm", "EXPLICIT"},
                       {"data_format", c.spatial() == 3 ? "NCDHW" : "NCHW"}};
  if (!kind.empty()) {
    settings.push_back({"output_padding", Ints(more)});
    settings.push_back({"output_size", Ints()});
  }
  return e.make(type, {{"Input", c.x}, {"Filter", c.filter}},
                std::move(settings), c.result, "Output");
}

/// A convolution of a dilated operand is a transposed one: its padding crops
/// the full result to what the window reaches.
static std::optional<Var> writeTransposed(OperatorWriter &e,
                                          const Convolution &c) {
  Ints strides, dilations, pads, more;
  bool isMore = false;
  for (const auto &each : c.window) {
    const int64_t reach = (each.size - 1) * each.windowDilation;
    const int64_t before = reach - each.paddingLow,
                  after = reach - each.paddingHigh;
    const int64_t extra = std::max<int64_t>(-after, 0);
    if (each.stride != 1 || before < 0 ||
        (extra > 0 &&
         extra >= std::max(each.baseDilation, each.windowDilation)))
      return std::nullopt;
    strides.push_back(each.baseDilation);
    dilations.push_back(each.windowDilation);
    pads.append({before, after + extra});
    more.push_back(extra);
    isMore |= extra > 0;
  }
  return makeConvolution(e, c, "_transpose", strides, dilations, pads,
                         isMore ? more : Ints());
}

static std::optional<Var> writePlain(OperatorWriter &e, Convolution c) {
  Ints strides, dilations, pads, low(2, 0), high(2, 0);
  bool isApart = false;
  for (const auto &each : c.window) {
    if (each.baseDilation != 1)
      return std::nullopt;
    strides.push_back(each.stride);
    dilations.push_back(each.windowDilation);
    pads.append({each.paddingLow, each.paddingHigh});
    low.push_back(std::min<int64_t>(each.paddingLow, 0));
    high.push_back(std::min<int64_t>(each.paddingHigh, 0));
    isApart |= low.back() < 0 || high.back() < 0;
  }
  if (isApart) {
    // Negative padding is sliced off before.
    Ints axes, starts, ends;
    for (int64_t i = 2; i < c.x.rank(); ++i) {
      if (low[i] == 0 && high[i] == 0)
        continue;
      if (ShapedType::isDynamic(c.x.shape()[i]))
        return std::nullopt;
      axes.push_back(i);
      starts.push_back(-low[i]);
      ends.push_back(c.x.shape()[i] + high[i]);
    }
    c.x = e.slice(c.x, axes, starts, ends, Ints(axes.size(), 1));
    for (int64_t &pad : pads)
      pad = std::max<int64_t>(pad, 0);
  }
  return makeConvolution(e, c, "", strides, dilations, pads);
}

/// [O, I / groups, ...] as [I, O / groups, ...].
static Var exchanged(OperatorWriter &e, const Var &filter, int64_t groups) {
  if (filter.shape()[0] == groups && filter.shape()[1] == 1)
    return filter;
  Ints split = {groups, filter.shape()[0] / groups};
  split.append(filter.shape().begin() + 1, filter.shape().end());
  Ints order = identity(static_cast<int64_t>(split.size()));
  std::swap(order[1], order[2]);
  Ints joined(filter.shape());
  joined[0] = filter.shape()[1] * groups;
  joined[1] = filter.shape()[0] / groups;
  return e.reshape(e.transpose(e.reshape(filter, split), order), joined);
}

static LogicalResult writeConvolution(OperatorWriter &e,
                                      stablehlo::ConvolutionOp op) {
  auto resultType = tensorOf(op.getResult());
  Type element = resultType.getElementType();
  auto compute = formats::typeOfProducts(op);
  if (!compute || !e.typeNumber(element))
    return e.unsupported("of these element types");
  if (op.getBatchGroupCount() != 1)
    return e.unsupported("with groups of images");
  if (!tensorOf(op.getRhs()).hasStaticShape())
    return e.unsupported("with a filter of unknown size");
  auto numbers = op.getDimensionNumbers();
  const Ints xOrder = channelsFirst(numbers.getInputBatchDimension(),
                                    numbers.getInputFeatureDimension(),
                                    numbers.getInputSpatialDimensions()),
             resultOrder = channelsFirst(numbers.getOutputBatchDimension(),
                                         numbers.getOutputFeatureDimension(),
                                         numbers.getOutputSpatialDimensions());
  Convolution c;
  c.window = op.getWindow();
  c.groups = op.getFeatureGroupCount();
  c.result = permuted(e.typed(resultType.getShape(), *compute), resultOrder);
  const bool isTransposed = llvm::any_of(
      c.window, [](const auto &each) { return each.baseDilation > 1; });
  const bool isPlainTransposed = isTransposed && c.groups == 1;
  const int64_t first = numbers.getKernelOutputFeatureDimension(),
                second = numbers.getKernelInputFeatureDimension();
  c.x = e.transpose(e.cast(e.operand(op.getLhs()), *compute), xOrder);
  c.filter = e.transpose(e.cast(e.operand(op.getRhs()), *compute),
                         channelsFirst(isPlainTransposed ? second : first,
                                       isPlainTransposed ? first : second,
                                       numbers.getKernelSpatialDimensions()));
  // A transposed convolution reverses its filter.
  Ints reversedDims;
  for (auto [i, each] : llvm::enumerate(c.window))
    if (each.reversed != isTransposed && each.size > 1)
      reversedDims.push_back(static_cast<int64_t>(i) + 2);
  c.filter = e.reverse(c.filter, reversedDims);
  if (isTransposed && c.groups > 1)
    c.filter = exchanged(e, c.filter, c.groups);
  const bool isFlat = c.window.size() == 1;
  if (isFlat) {
    c.window.emplace_back();
    c.x = e.unsqueeze(c.x, {3});
    c.filter = e.unsqueeze(c.filter, {3});
    Ints shape(c.result.getShape());
    shape.push_back(1);
    c.result = e.typed(shape, *compute);
  }
  if (c.window.size() != 2 && c.window.size() != 3)
    return e.unsupported("over this number of dimensions");
  auto done = isTransposed ? writeTransposed(e, c) : writePlain(e, c);
  if (!done)
    return e.unsupported("with this window");
  Var result = isFlat ? e.squeeze(*done, {3}) : *done;
  return e.alias(e.cast(e.transpose(result, inverse(resultOrder)), element));
}

WriterRules convolutionRules() {
  static const WriterRule rules[] = {writerRule<writeConvolution>()};
  return rules;
}

} // namespace sinter::paddle
