// Pools over windows and over whole images.

#include "formats/import/Building.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

/// The mean or the greatest of each image.
static Value poolWhole(OperatorContext &op, Value x, bool isMax) {
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(2, op.rank(x)));
  if (isMax)
    return op.reduce<stablehlo::MaxOp>(
        x, axes, -std::numeric_limits<double>::infinity(), true);
  Value wide = formats::widened(op, x);
  Value sum = op.reduce<stablehlo::AddOp>(wide, axes, 0, true);
  Value mean = op.binary<stablehlo::DivOp>(
      sum, op.countAlong(x, axes, op.element(wide)));
  return mean ? op.cast(mean, op.element(x)) : Value();
}

static LogicalResult importPool2d(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  const std::string kind = op.getString("pooling_type", "max");
  if (kind != "max" && kind != "avg")
    return op.fail("attribute 'pooling_type' is '" + kind + "'");
  const bool isMax = kind == "max", isLast = hasChannelsLast(op);
  if (isLast)
    x = channelsFirst(op, x);
  Ints size = op.getInts("ksize");
  if (op.failed())
    return failure();
  Value result;
  const bool isWhole =
      op.getBool("global_pooling", false) ||
      (op.getBool("adaptive", false) &&
       llvm::all_of(size, [](int64_t each) { return each == 1; }));
  if (isWhole) {
    result = poolWhole(op, x, isMax);
  } else {
    if (op.getBool("adaptive", false) || op.getBool("ceil_mode", false))
      return op.unsupported("adaptive pools and ceil_mode");
    auto window = readWindow(op, x, size);
    if (!window)
      return failure();
    result = isMax ? op.op<nn::MaxPoolOp>(x, window->size, window->strides,
                                          window->dilations, window->low,
                                          window->high)
                   : op.op<nn::AveragePoolOp>(
                         x, window->size, window->strides, window->dilations,
                         window->low, window->high,
                         !op.getBool("exclusive", true), ArrayRef<int64_t>());
  }
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}

OperatorReaders poolingReaders() {
  static const OperatorReader table[] = {
      {"pool2d", importPool2d},
  };
  return table;
}

} // namespace sinter::paddle
