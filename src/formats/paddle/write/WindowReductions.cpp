// reduce_window: as a pool if there is one.

#include "formats/paddle/write/Combining.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::paddle {

using stablehlo::Combination;
using stablehlo::WindowDimension;

/// Maximum number of slices in one dimension.
static constexpr int64_t mostSlices = 4096;

static bool slides(const WindowDimension &each) {
  return each.size != 1 || each.stride != 1 || each.paddingLow != 0 ||
         each.paddingHigh != 0;
}

/// \p x, with \p filler around it.
static std::optional<Var> padded(OperatorWriter &e, const Var &x, Value filler,
                                 ArrayRef<WindowDimension> window) {
  Ints low, high;
  bool isPadded = false;
  for (auto [size, each] : llvm::zip_equal(x.shape(), window)) {
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
    isPadded |= each.paddingLow != 0 || each.paddingHigh != 0;
    if (ShapedType::isDynamic(size) &&
        (each.paddingLow < 0 || each.paddingHigh < 0))
      return std::nullopt;
  }
  if (!isPadded)
    return x;
  auto number = attributeNumber(filler);
  return number ? std::optional(e.pad(x, *number, low, high)) : std::nullopt;
}

/// \p x as an image: its dimensions \p still as two, then \p sliding as two or
/// three. Nothing if too many sizes are dynamic.
static std::optional<Var> asImage(OperatorWriter &e, const Var &x,
                                  ArrayRef<int64_t> still,
                                  ArrayRef<int64_t> sliding) {
  Ints order(still), added;
  order.append(sliding.begin(), sliding.end());
  Var image = e.transpose(x, order);
  if (still.size() > 2) {
    Ints shape = {1, productOf(image.shape().take_front(still.size()))};
    llvm::append_range(shape, image.shape().drop_front(still.size()));
    if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
      return std::nullopt;
    image = e.reshape(image, shape);
  }
  for (size_t i = still.size(); i < 2; ++i)
    added.push_back(static_cast<int64_t>(i - still.size()));
  image = e.unsqueeze(image, added);
  return sliding.size() == 1 ? e.unsqueeze(image, {3}) : image;
}

/// The inverse of asImage, to a tensor of the shape \p result.
static std::optional<Var> fromImage(OperatorWriter &e, const Var &image,
                                    ArrayRef<int64_t> still,
                                    ArrayRef<int64_t> sliding,
                                    ArrayRef<int64_t> result) {
  Ints gone, order(still);
  order.append(sliding.begin(), sliding.end());
  for (size_t i = still.size(); i < 2; ++i)
    gone.push_back(static_cast<int64_t>(i - still.size()));
  if (sliding.size() == 1)
    gone.push_back(3);
  Var x = e.squeeze(image, gone);
  if (still.size() > 2) {
    if (llvm::count_if(result, ShapedType::isDynamic) > 1)
      return std::nullopt;
    x = e.reshape(x, sizesAt(result, order));
  }
  return e.transpose(x, inverse(order));
}

/// As a pool over the dimensions that the window slides along, which become the
/// last two or three of an image; nothing if no pool is equivalent.
static std::optional<Var> pool(OperatorWriter &e, const Var &x,
                               stablehlo::ReduceWindowOp op,
                               Combination combination) {
  auto window = op.getWindow();
  const auto resultShape = tensorOf(op.getResult(0)).getShape();
  Ints still, sliding, size, strides;
  double count = 1;
  for (auto [i, each] : llvm::enumerate(window)) {
    if (each.windowDilation != 1)
      return std::nullopt;
    (slides(each) ? sliding : still).push_back(static_cast<int64_t>(i));
    count *= static_cast<double>(each.size);
  }
  if (!isa<FloatType>(x.element()) || sliding.empty() || sliding.size() > 3 ||
      (combination != Combination::Max && combination != Combination::Sum))
    return std::nullopt;
  auto image = asImage(e, x, still, sliding);
  if (!image)
    return std::nullopt;
  Ints shape(image->shape());
  for (auto [i, dim] : llvm::enumerate(sliding)) {
    shape[i + 2] = resultShape[dim];
    size.push_back(window[dim].size);
    strides.push_back(window[dim].stride);
  }
  size.resize(shape.size() - 2, 1);
  strides.resize(shape.size() - 2, 1);
  const bool isVolume = sliding.size() == 3;
  const bool isMax = combination == Combination::Max;
  Var pooled = e.make(isVolume ? "pool3d" : "pool2d", {{"X", *image}},
                      {{"pooling_type", isMax ? "max" : "avg"},
                       {"ksize", size},
                       {"strides", strides},
                       {"paddings", Ints(2 * size.size(), 0)},
                       {"global_pooling", false},
                       {"adaptive", false},
                       {"ceil_mode", false},
                       {"exclusive", false},
                       {"padding_algorithm", "EXPLICIT"},
                       {"data_format", isVolume ? "NCDHW" : "NCHW"}},
                      e.typed(shape, x.element()));
  if (!isMax)
    pooled =
        e.unary("scale", pooled,
                {{"scale", count}, {"bias", 0.0}, {"bias_after_scale", true}});
  return fromImage(e, pooled, still, sliding, resultShape);
}

/// Combines, one dimension after the other, the slices at each window offset.
static Var combineSlices(OperatorWriter &e, Var x,
                         ArrayRef<WindowDimension> window,
                         ArrayRef<int64_t> shape, StringRef binary) {
  for (auto [i, each] : llvm::enumerate(window)) {
    const auto axis = static_cast<int64_t>(i);
    const int64_t windowCount = shape[i], step = each.stride;
    if (each.size == 1 && step == 1)
      continue;
    std::optional<Var> sum;
    for (int64_t k = 0; k < each.size; ++k) {
      const int64_t start = k * each.windowDilation;
      // For a dynamic number of positions, counted from the end.
      const int64_t behind = (each.size - 1 - k) * each.windowDilation;
      const int64_t end = !ShapedType::isDynamic(windowCount)
                              ? start + (windowCount - 1) * step + 1
                          : behind > 0 ? -behind
                                       : OperatorWriter::toTheEnd;
      Var part = e.slice(x, {axis}, {start}, {end}, {step});
      sum = sum ? e.binary(binary, *sum, part) : part;
    }
    x = *sum;
  }
  return x;
}

static LogicalResult writeReduceWindow(OperatorWriter &e,
                                       stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  Value initial = op.getInitValues()[0];
  auto type = tensorOf(op.getResult(0));
  Type element = type.getElementType();
  auto combination = stablehlo::combinationOf(op.getBody(), element);
  if (!combination || !e.typeNumber(element))
    return e.unsupported("by more than one operation");
  auto window = op.getWindow();
  for (const WindowDimension &each : window)
    if (each.size > mostSlices || each.baseDilation != 1)
      return e.unsupported("of large windows, or between elements");
  auto x = padded(e, e.operand(op.getInputs()[0]), initial, window);
  if (!x)
    return e.unsupported("with this padding");
  const StringRef binary = namesOf(*combination).binary;
  std::optional<Var> reduced = pool(e, *x, op, *combination);
  for (auto [i, each] : llvm::enumerate(window))
    if (!reduced && type.isDynamicDim(i) && each.stride != 1)
      return e.unsupported("in steps along unknown dimensions");
  if (!reduced)
    reduced = combineSlices(e, *x, window, type.getShape(), binary);
  if (!stablehlo::isNeutral(initial, *combination))
    reduced = e.binary(binary, *reduced, e.reshape(e.operand(initial), {1}));
  return e.alias(*reduced);
}

WriterRules windowRules() {
  static const WriterRule rules[] = {writerRule<writeReduceWindow>()};
  return rules;
}

} // namespace sinter::paddle
