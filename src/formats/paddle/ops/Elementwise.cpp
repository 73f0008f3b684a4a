// Arithmetic, element by element.

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

/// X and Y as NumPy broadcasts them. With attribute axis the one of fewer
/// dimensions begins at that dimension of the other, its own last dimensions of
/// one element not counting.
static Values aligned(OperatorContext &op) {
  Value x = op.operand("X"), y = op.operand("Y");
  const int64_t axis = op.getInt("axis", -1);
  if (!x || !y || op.failed())
    return {};
  const bool isSwapped = op.rank(x) < op.rank(y);
  Value &smaller = isSwapped ? x : y;
  const int64_t rank = op.rank(isSwapped ? y : x);
  if (axis == -1 || op.rank(smaller) == rank)
    return {x, y};
  int64_t own = op.rank(smaller);
  while (own > 0 && op.shape(smaller)[own - 1] == 1)
    --own;
  if (axis < 0 || axis + own > rank)
    return op.fail("attribute 'axis' is " + Twine(axis) +
                   ", which does not fit tensors of " + Twine(rank) + " and " +
                   Twine(op.rank(smaller)) + " dimensions"),
           Values();
  Dims sizes = op.dims(smaller);
  sizes.resize(own, Dim(1));
  sizes.resize(rank - axis, Dim(1));
  smaller = op.reshape(smaller, ArrayRef<Dim>(sizes));
  return {x, y};
}

template <typename Op> static LogicalResult binary(OperatorContext &op) {
  Values both = aligned(op);
  return both.empty() ? failure()
                      : op.result("Out", op.binary<Op>(both[0], both[1]));
}

/// scale * x + bias, or scale * (x + bias).
static LogicalResult importScale(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  Type element = op.element(x);
  Value scale = op.numberFrom("ScaleTensor", "scale", 1, element);
  const double bias = op.getFloat("bias", 0);
  auto shift = [&](Value value) {
    return bias == 0 ? value
                     : op.binary<stablehlo::AddOp>(value, op.one(x, bias));
  };
  const bool isLast = op.getBool("bias_after_scale", true);
  Value before = isLast ? x : shift(x);
  const bool isOne = !op.has("ScaleTensor") && op.getFloat("scale", 1) == 1;
  Value scaled = isOne ? before : op.binary<stablehlo::MulOp>(before, scale);
  return op.result("Out", isLast ? shift(scaled) : scaled);
}

OperatorReaders elementwiseReaders() {
  static const OperatorReader table[] = {
      {"elementwise_add", binary<stablehlo::AddOp>},
      {"elementwise_div", binary<stablehlo::DivOp>},
      {"elementwise_max", binary<stablehlo::MaxOp>},
      {"elementwise_min", binary<stablehlo::MinOp>},
      {"elementwise_mul", binary<stablehlo::MulOp>},
      {"elementwise_sub", binary<stablehlo::SubtractOp>},
      {"scale", importScale},
  };
  return table;
}

} // namespace sinter::paddle
