// Interpolation of images.

#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

/// out = int(in * scale), place = floor(i / scale).
static LogicalResult importNearest(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  const bool isLast = hasChannelsLast(op, "data_layout");
  if (isLast)
    x = channelsFirst(op, x);
  auto scales = op.getFloats("scale");
  if (op.failed())
    return failure();
  const int64_t spatial = op.rank(x) - 2;
  if (scales.size() == 1)
    scales.assign(spatial, scales.front());
  if (op.has("OutSize") || op.has("SizeTensor") || op.has("Scale") ||
      static_cast<int64_t>(scales.size()) != spatial ||
      op.getBool("align_corners", false))
    return op.unsupported("sizes that are not said by attribute 'scale', or "
                          "aligned corners");
  SmallVector<double> factors(2, 1.0);
  Ints sizes(op.shape(x).take_front(2));
  for (int64_t i = 0; i < spatial; ++i) {
    if (!(scales[i] > 0) || scales[i] > 1e6)
      return op.fail("attribute 'scale' is not positive or too large");
    factors.push_back(scales[i]);
    const int64_t size = op.shape(x)[i + 2];
    sizes.push_back(
        ShapedType::isDynamic(size)
            ? size
            : static_cast<int64_t>(static_cast<double>(size) * scales[i]));
  }
  Builder &builder = op.builder();
  Value result = op.typed<nn::ResizeOp>(
      op.tensorType(sizes, op.element(x)), x,
      builder.getDenseF64ArrayAttr(factors), builder.getStringAttr("nearest"),
      builder.getStringAttr("asymmetric"), builder.getStringAttr("floor"),
      builder.getF64FloatAttr(-0.75), builder.getF64FloatAttr(0),
      builder.getBoolAttr(false), builder.getBoolAttr(false),
      builder.getDenseF64ArrayAttr({}));
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}

OperatorReaders resizeReaders() {
  static const OperatorReader table[] = {
      {"nearest_interp_v2", importNearest},
  };
  return table;
}

} // namespace sinter::paddle
