// Activation functions.

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

template <typename Op> static LogicalResult plain(OperatorContext &op) {
  return op.result("Out", op.op<Op>(op.operand("X")));
}

/// An f64 attribute of an op: the operator's number of that name, or its
/// default.
static FloatAttr number(OperatorContext &op, StringRef name, double otherwise) {
  return op.builder().getF64FloatAttr(op.getFloat(name, otherwise));
}

static LogicalResult importHardSigmoid(OperatorContext &op) {
  return op.result("Out", op.op<nn::HardSigmoidOp>(op.operand("X"),
                                                   number(op, "slope", 0.2),
                                                   number(op, "offset", 0.5)));
}

/// x * min(max(x + offset, 0), threshold) / scale.
static LogicalResult importHardSwish(OperatorContext &op) {
  const double threshold = op.getFloat("threshold", 6),
               scale = op.getFloat("scale", 6),
               offset = op.getFloat("offset", 3);
  Value x = op.operand("X");
  if (op.failed())
    return failure();
  if (threshold == 6 && scale == 6 && offset == 3)
    return op.result("Out", op.op<nn::HardSwishOp>(x));
  Value shifted = op.binary<stablehlo::AddOp>(x, op.one(x, offset));
  Value clipped =
      op.op<stablehlo::ClampOp>(op.scalar(op.element(x), 0), shifted,
                                op.scalar(op.element(x), threshold));
  return op.result(
      "Out", op.binary<stablehlo::DivOp>(
                 op.binary<stablehlo::MulOp>(x, clipped), op.one(x, scale)));
}

static LogicalResult importSwish(OperatorContext &op) {
  return op.result("Out",
                   op.op<nn::SiluOp>(op.operand("X"), number(op, "beta", 1)));
}

OperatorReaders activationReaders() {
  static const OperatorReader table[] = {
      {"hard_sigmoid", importHardSigmoid},
      {"hard_swish", importHardSwish},
      {"relu", plain<nn::ReluOp>},
      {"sigmoid", plain<stablehlo::LogisticOp>},
      {"swish", importSwish},
      {"tanh", plain<stablehlo::TanhOp>},
  };
  return table;
}

} // namespace sinter::paddle
