#include "formats/onnx/ops/Window.h"

using namespace mlir;

namespace sinter::onnx {

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
  // The weight's size along a dimension may be dynamic.
  auto isDynamic = [&](int64_t i) {
    return !kernel.empty() && ShapedType::isDynamic(kernel[i]);
  };
  Ints sizes;
  for (int64_t i = 0; i < spatial; ++i)
    if (!isDynamic(i) || !ShapedType::isDynamic(window.size[i]))
      sizes.push_back(window.size[i]);
  if (!areExtents(sizes, 1) || !areExtents(window.strides, 1) ||
      !areExtents(window.dilations, 1))
    return node.fail("kernel_shape, strides or dilations is not positive or "
                     "too large");
  for (int64_t i = 0; i < static_cast<int64_t>(kernel.size()); ++i)
    if (!isDynamic(i) && window.size[i] != kernel[i])
      return node.fail("kernel_shape is not the weight's shape");
  return window;
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
    if (size >= largestExtent)
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
  if (isGiven && !areExtents(pads, 0))
    return node.fail("pads is negative or too large");
  const bool roundsUp = node.getBool("ceil_mode", false);
  SmallVector<WindowPadding> paddings;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t stride = window->strides[i];
    const bool isSized = !ShapedType::isDynamic(window->size[i]);
    if (!isSized && (isSame || roundsUp))
      return node.unknown("the window's size is known only at run time");
    const int64_t reach =
        isSized ? (window->size[i] - 1) * window->dilations[i] + 1 : 1;
    // Emit operations that compute a size only if it is needed.
    const bool asks =
        node.expandsUnknown() && stride != 1 && (isSame || roundsUp);
    const Dim size = asks ? node.dim(operand, i + 2) : Dim(sizes[i]);
    WindowPadding padding;
    if (isSame) {
      auto same = padSame(node, size, stride, reach, automatic == "SAME_UPPER");
      if (!same)
        return std::nullopt;
      padding = *same;
    } else if (isGiven) {
      padding = {pads[i], pads[i + spatial], 0};
    }
    if (roundsUp && !roundUp(node, size, stride, reach, false, padding))
      return std::nullopt;
    paddings.push_back(padding);
  }
  setPadding(*window, paddings);
  return window;
}

} // namespace sinter::onnx
