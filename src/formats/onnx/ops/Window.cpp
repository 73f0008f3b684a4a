#include "formats/onnx/ops/Window.h"

#include "formats/import/SizeArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

/// Larger windows, strides and paddings are nonsense and would overflow.
static constexpr int64_t largest = int64_t(1) << 31;

static bool sane(ArrayRef<int64_t> list, int64_t least) {
  return llvm::all_of(
      list, [&](int64_t each) { return each >= least && each < largest; });
}

std::optional<Window> readWindowSizes(NodeContext &node, int64_t spatial,
                                      ArrayRef<int64_t> kernel) {
  Window window;
  window.size = node.getInts("kernel_shape", Ints(kernel));
  window.strides = node.getInts("strides", Ints(spatial, 1));
  window.dilations = node.getInts("dilations", Ints(spatial, 1));
  if (window.strides.empty())
    window.strides.assign(spatial, 1);
  if (window.dilations.empty())
    window.dilations.assign(spatial, 1);
  if (node.failed())
    return std::nullopt;
  for (const Ints &list : {window.size, window.strides, window.dilations})
    if (static_cast<int64_t>(list.size()) != spatial)
      return node.fail("kernel_shape, strides or dilations has not one element "
                       "a spatial dimension (" +
                       Twine(spatial) + ")");
  // What the weight is along a dimension may show only when it runs.
  auto isOpen = [&](int64_t i) {
    return !kernel.empty() && ShapedType::isDynamic(kernel[i]);
  };
  Ints sizes;
  for (int64_t i = 0; i < spatial; ++i)
    if (!isOpen(i) || !ShapedType::isDynamic(window.size[i]))
      sizes.push_back(window.size[i]);
  if (!sane(sizes, 1) || !sane(window.strides, 1) || !sane(window.dilations, 1))
    return node.fail("kernel_shape, strides or dilations is not positive or "
                     "too large");
  for (int64_t i = 0; i < static_cast<int64_t>(kernel.size()); ++i)
    if (!isOpen(i) && window.size[i] != kernel[i])
      return node.fail("kernel_shape is not the weight's shape");
  return window;
}

namespace {

/// The padding of one dimension while it is worked out.
struct Padding {
  Dim low = 0, high = 0, ceil = 0;
};

} // namespace

/// Padding so that the result has size ceil(size / stride).
static std::optional<Padding> padSame(NodeContext &node, const Dim &size,
                                      int64_t stride, int64_t reach,
                                      bool upper) {
  auto split = [&](int64_t total) {
    int64_t low = upper ? total / 2 : total - total / 2;
    return Padding{low, total - low, 0};
  };
  if (size.isStatic()) {
    int64_t places = llvm::divideCeil(size.size, stride);
    return split(
        std::max<int64_t>((places - 1) * stride + reach - size.size, 0));
  }
  if (stride == 1)
    return split(reach - 1);
  if (!node.spellsUnknown())
    return node.unknown("auto_pad needs the size of the input; give it with "
                        "--shape");
  formats::SizeArithmetic a(node);
  Dim places = a.divide(a.add(size, stride - 1), stride);
  Dim last = a.multiply(a.subtract(places, 1), stride);
  Dim total = a.max(a.subtract(a.add(last, reach), size), 0);
  Dim half = a.divide(total, 2), rest = a.subtract(total, half);
  return upper ? Padding{half, rest, 0} : Padding{rest, half, 0};
}

/// Adds padding so that the size is rounded up, except where the last window
/// would lie in the padding altogether.
static bool roundUp(NodeContext &node, const Dim &size, int64_t stride,
                    int64_t reach, Padding &padding) {
  if (stride == 1)
    return true;
  if (size.isStatic()) {
    int64_t low = padding.low.size,
            padded = size.size + low + padding.high.size;
    if (padded < reach)
      return true;
    int64_t places = llvm::divideCeil(padded - reach, stride) + 1;
    if ((places - 1) * stride >= size.size + low)
      --places;
    int64_t extra =
        std::max<int64_t>((places - 1) * stride + reach - padded, 0);
    padding.ceil = extra;
    padding.high = padding.high.size + extra;
    return true;
  }
  if (!node.spellsUnknown()) {
    node.unknown("ceil_mode needs the size of the input; give it with "
                 "--shape");
    return false;
  }
  formats::SizeArithmetic a(node);
  Dim begun = a.add(size, padding.low), padded = a.add(begun, padding.high);
  // One less than the number of places.
  Dim steps =
      a.divide(a.add(a.max(a.subtract(padded, reach), 0), stride - 1), stride);
  steps = a.subtract(steps, a.isAtLeast(a.multiply(steps, stride), begun));
  padding.ceil =
      a.max(a.subtract(a.add(a.multiply(steps, stride), reach), padded), 0);
  padding.high = a.add(padding.high, padding.ceil);
  return true;
}

Value padOpen(NodeContext &node, Value operand, const Window &window,
              Value filler) {
  if (!window.isOpen() || !operand)
    return operand;
  Dims low(2, Dim(0)), high(2, Dim(0));
  llvm::append_range(low, window.openLow);
  llvm::append_range(high, window.openHigh);
  Ints shape(node.shape(operand).take_front(2));
  shape.resize(low.size(), ShapedType::kDynamic);
  return node.typed<stablehlo::DynamicPadOp>(
      node.tensorType(shape, node.element(operand)), operand, filler,
      node.extents(low), node.extents(high),
      node.integers(Ints(low.size(), 0)));
}

/// The padding of all dimensions: numbers, unless some size is not known.
static void setPadding(Window &window, ArrayRef<Padding> paddings) {
  const bool isKnown = llvm::all_of(paddings, [](const Padding &each) {
    return each.low.isStatic() && each.high.isStatic();
  });
  for (const Padding &each : paddings) {
    window.low.push_back(isKnown ? each.low.size : 0);
    window.high.push_back(isKnown ? each.high.size : 0);
    window.ceilPadding.push_back(isKnown ? each.ceil.size : 0);
    if (isKnown)
      continue;
    window.openLow.push_back(each.low);
    window.openHigh.push_back(each.high);
    window.openCeil.push_back(each.ceil);
  }
}

std::optional<Window> readWindow(NodeContext &node, Value operand,
                                 ArrayRef<int64_t> kernel) {
  int64_t spatial = node.rank(operand) - 2;
  if (spatial < 1)
    return node.fail("the input is not [N, C, spatial...]");
  auto window = readWindowSizes(node, spatial, kernel);
  if (!window)
    return std::nullopt;
  ArrayRef<int64_t> sizes = node.shape(operand).drop_front(2);
  for (int64_t size : sizes)
    if (size >= largest)
      return node.fail("the input is too large");
  std::string automatic = node.getString("auto_pad", "NOTSET");
  Ints pads = node.getInts("pads", Ints(2 * spatial, 0));
  if (pads.empty())
    pads.assign(2 * spatial, 0);
  const bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  const bool isGiven = automatic == "NOTSET" || automatic.empty();
  if (!isSame && !isGiven && automatic != "VALID")
    return node.fail("auto_pad is '" + automatic + "'");
  if (isGiven && static_cast<int64_t>(pads.size()) != 2 * spatial)
    return node.fail("pads has not two elements a spatial dimension");
  if (isGiven && !sane(pads, 0))
    return node.fail("pads is negative or too large");
  const bool roundsUp = node.getBool("ceil_mode", false);
  SmallVector<Padding> paddings;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t stride = window->strides[i];
    const bool isSized = !ShapedType::isDynamic(window->size[i]);
    if (!isSized && (isSame || roundsUp))
      return node.unknown("the window's size is known only at run time");
    const int64_t reach =
        isSized ? (window->size[i] - 1) * window->dilations[i] + 1 : 1;
    // Operations that compute a size are made only where one is asked for.
    const bool asks =
        node.spellsUnknown() && stride != 1 && (isSame || roundsUp);
    const Dim size = asks ? node.dim(operand, i + 2) : Dim(sizes[i]);
    Padding padding;
    if (isSame) {
      auto same = padSame(node, size, stride, reach, automatic == "SAME_UPPER");
      if (!same)
        return std::nullopt;
      padding = *same;
    } else if (isGiven) {
      padding = {pads[i], pads[i + spatial], 0};
    }
    if (roundsUp && !roundUp(node, size, stride, reach, padding))
      return std::nullopt;
    paddings.push_back(padding);
  }
  setPadding(*window, paddings);
  return window;
}

} // namespace sinter::onnx
