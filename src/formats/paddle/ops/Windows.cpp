#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

bool hasChannelsLast(OperatorContext &op, StringRef name) {
  const std::string layout = op.getString(name, "NCHW");
  for (StringRef known : {"NCHW", "NCDHW", "NCL", "NCW", "NC", "AnyLayout",
                          "ANYLAYOUT", "Undefined(AnyLayout)"})
    if (layout == known)
      return false;
  for (StringRef known : {"NHWC", "NDHWC", "NLC", "NWC"})
    if (layout == known)
      return true;
  op.fail("attribute '" + name + "' is '" + layout + "'");
  return false;
}

std::optional<Window> readWindow(OperatorContext &op, Value input,
                                 ArrayRef<int64_t> size, bool roundsUp) {
  const int64_t spatial = op.rank(input) - 2;
  if (spatial < 1)
    return op.fail("the input is not [N, C, spatial...]");
  Window window;
  window.size.assign(size.begin(), size.end());
  window.strides = op.getInts("strides", Ints(spatial, 1));
  window.dilations = op.getInts("dilations", Ints(spatial, 1));
  Ints pads = op.getInts("paddings", Ints(spatial, 0));
  const std::string algorithm = op.getString("padding_algorithm", "EXPLICIT");
  if (op.failed())
    return std::nullopt;
  const auto count = static_cast<size_t>(spatial);
  if (window.size.size() != count || window.strides.size() != count ||
      window.dilations.size() != count ||
      (pads.size() != count && pads.size() != 2 * count))
    return op.fail("the window, strides, dilations or paddings have not one "
                   "element a spatial dimension (" +
                   Twine(spatial) + ")");
  if (!areExtents(window.size, 1) || !areExtents(window.strides, 1) ||
      !areExtents(window.dilations, 1) || !areExtents(pads, 0))
    return op.fail("the window, strides, dilations or paddings are not "
                   "positive or too large");
  for (int64_t each : op.shape(input).drop_front(2))
    if (each >= largestExtent)
      return op.fail("the input is too large");
  const bool isSame = algorithm == "SAME", isPair = pads.size() == 2 * count;
  if (isSame)
    window.dilations.assign(count, 1);
  else if (algorithm == "VALID")
    pads.assign(count, 0);
  else if (algorithm != "EXPLICIT")
    return op.fail("attribute 'padding_algorithm' is '" + algorithm + "'");
  SmallVector<WindowPadding> paddings;
  for (size_t i = 0; i < count; ++i) {
    const int64_t stride = window.strides[i];
    const int64_t reach = (window.size[i] - 1) * window.dilations[i] + 1;
    // Emit operations that compute a size only if it is needed.
    const bool asks =
        op.expandsUnknown() && stride != 1 && (isSame || roundsUp);
    const Dim extent = asks ? op.dim(input, i + 2) : Dim(op.size(input, i + 2));
    WindowPadding padding;
    if (isSame) {
      auto same = padSame(op, extent, stride, reach, /*upper=*/true);
      if (!same)
        return std::nullopt;
      padding = *same;
    } else if (algorithm == "EXPLICIT") {
      padding = {pads[isPair ? 2 * i : i], pads[isPair ? 2 * i + 1 : i], 0};
    }
    if (roundsUp && !roundUp(op, extent, stride, reach,
                             /*mayStartOutside=*/true, padding))
      return std::nullopt;
    paddings.push_back(padding);
  }
  setPadding(window, paddings);
  return window;
}

} // namespace sinter::paddle
