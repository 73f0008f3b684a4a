#include "formats/onnx/ops/Window.h"

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
  if (!sane(window.size, 1) || !sane(window.strides, 1) ||
      !sane(window.dilations, 1))
    return node.fail("kernel_shape, strides or dilations is not positive or "
                     "too large");
  if (!kernel.empty() && window.size != Ints(kernel))
    return node.fail("kernel_shape is not the weight's shape");
  return window;
}

/// Padding so that the result has size ceil(size / stride).
static bool padSame(NodeContext &node, ArrayRef<int64_t> sizes, bool upper,
                    Window &window) {
  for (size_t i = 0; i < window.size.size(); ++i) {
    int64_t stride = window.strides[i];
    int64_t reach = (window.size[i] - 1) * window.dilations[i] + 1;
    int64_t total = reach - 1;
    if (!ShapedType::isDynamic(sizes[i])) {
      int64_t places = llvm::divideCeil(sizes[i], stride);
      total = std::max<int64_t>((places - 1) * stride + reach - sizes[i], 0);
    } else if (stride != 1) {
      node.unknown("auto_pad needs the size of the input; give it with "
                   "--shape");
      return false;
    }
    window.low.push_back(upper ? total / 2 : total - total / 2);
    window.high.push_back(total - window.low.back());
  }
  return true;
}

/// Adds padding so that the size is rounded up, except where the last window
/// would lie in the padding altogether.
static bool roundUp(NodeContext &node, ArrayRef<int64_t> sizes,
                    Window &window) {
  for (size_t i = 0; i < window.size.size(); ++i) {
    int64_t stride = window.strides[i];
    window.ceilPadding.push_back(0);
    if (stride == 1)
      continue;
    if (ShapedType::isDynamic(sizes[i])) {
      node.unknown("ceil_mode needs the size of the input; give it with "
                   "--shape");
      return false;
    }
    int64_t reach = (window.size[i] - 1) * window.dilations[i] + 1;
    int64_t padded = sizes[i] + window.low[i] + window.high[i];
    if (padded < reach)
      continue;
    int64_t places = llvm::divideCeil(padded - reach, stride) + 1;
    if ((places - 1) * stride >= sizes[i] + window.low[i])
      --places;
    int64_t extra =
        std::max<int64_t>((places - 1) * stride + reach - padded, 0);
    window.ceilPadding.back() = extra;
    window.high[i] += extra;
  }
  return true;
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
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    if (!padSame(node, sizes, automatic == "SAME_UPPER", *window))
      return std::nullopt;
  } else if (automatic == "VALID") {
    window->low.assign(spatial, 0);
    window->high.assign(spatial, 0);
  } else if (automatic == "NOTSET" || automatic.empty()) {
    if (static_cast<int64_t>(pads.size()) != 2 * spatial)
      return node.fail("pads has not two elements a spatial dimension");
    if (!sane(pads, 0))
      return node.fail("pads is negative or too large");
    window->low.assign(pads.begin(), pads.begin() + spatial);
    window->high.assign(pads.begin() + spatial, pads.end());
  } else {
    return node.fail("auto_pad is '" + automatic + "'");
  }
  if (!node.getBool("ceil_mode", false))
    window->ceilPadding.assign(spatial, 0);
  else if (!roundUp(node, sizes, *window))
    return std::nullopt;
  return window;
}

} // namespace sinter::onnx
