// Activation functions.

#include "formats/import/Building.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

template <typename Op> static LogicalResult plain(OperatorContext &op) {
  return op.result("Out", op.op<Op>(op.operand("X")));
}

/// An f64 attribute of an op: the operator's float attribute of that name, or
/// its default.
static FloatAttr number(OperatorContext &op, StringRef name, double otherwise) {
  return op.builder().getF64FloatAttr(op.getFloat(name, otherwise));
}

/// An operation with one float attribute, which the operator has, too.
template <typename Op>
static LogicalResult withFloat(OperatorContext &op, StringRef name,
                               double otherwise) {
  return op.result("Out",
                   op.op<Op>(op.operand("X"), number(op, name, otherwise)));
}

//===----------------------------------------------------------------------===//
// Rectifiers
//===----------------------------------------------------------------------===//

/// \p x clamped to [low, high].
static Value between(OperatorContext &op, Value x, double low, double high) {
  return x ? op.op<stablehlo::ClampOp>(op.scalar(op.element(x), low), x,
                                       op.scalar(op.element(x), high))
           : Value();
}

static LogicalResult importRelu6(OperatorContext &op) {
  return op.result(
      "Out", between(op, op.operand("X"), 0, op.getFloat("threshold", 6)));
}
static LogicalResult importBoundedRelu(OperatorContext &op) {
  return op.result("Out", between(op, op.operand("X"), op.getFloat("t_min", 0),
                                  op.getFloat("t_max", 24)));
}
/// The operator's default differs from that of the layer (0.01).
static LogicalResult importLeakyRelu(OperatorContext &op) {
  return withFloat<nn::LeakyReluOp>(op, "alpha", 0.02);
}
static LogicalResult importElu(OperatorContext &op) {
  return withFloat<nn::EluOp>(op, "alpha", 1);
}
static LogicalResult importCelu(OperatorContext &op) {
  return withFloat<nn::CeluOp>(op, "alpha", 1);
}
static LogicalResult importSelu(OperatorContext &op) {
  return op.result("Out",
                   op.op<nn::SeluOp>(op.operand("X"),
                                     number(op, "alpha", 1.6732632423543772),
                                     number(op, "scale", 1.0507009873554805)));
}
/// x if it is above the threshold, else `value`.
static LogicalResult importThresholdedRelu(OperatorContext &op) {
  const double value = op.getFloat("value", 0);
  if (value == 0)
    return withFloat<nn::ThresholdedReluOp>(op, "threshold", 1);
  Value x = op.operand("X");
  Value above = op.compare(x, op.one(x, op.getFloat("threshold", 1)),
                           ComparisonDirection::GT);
  return op.result("Out", select(op, above, x, op.one(x, value)));
}
static LogicalResult importHardShrink(OperatorContext &op) {
  return op.result("Out", op.op<nn::ShrinkOp>(op.operand("X"),
                                              op.builder().getF64FloatAttr(0),
                                              number(op, "threshold", 0.5)));
}
static LogicalResult importSoftShrink(OperatorContext &op) {
  FloatAttr lambda = number(op, "lambda", 0.5);
  return op.result("Out", op.op<nn::ShrinkOp>(op.operand("X"), lambda, lambda));
}

/// One slope for all, one per channel, or one per element of an image.
static LogicalResult importPRelu(OperatorContext &op) {
  Value x = op.operand("X"), slope = op.operand("Alpha");
  const std::string mode = op.getString("mode", "all");
  if (!x || !slope || op.failed())
    return failure();
  const int64_t rank = op.rank(x);
  if (mode == "channel") {
    const bool isLast = hasChannelsLast(op);
    if (rank < 2)
      return op.fail("X is not [N, C, ...]");
    Dims sizes(rank, Dim(1));
    sizes[isLast ? rank - 1 : 1] = op.product(op.dims(slope));
    slope = op.reshape(slope, ArrayRef<Dim>(sizes));
  } else if (mode == "element") {
    Dims sizes = op.dims(x);
    if (rank == 0)
      return op.fail("X is a scalar");
    sizes[0] = Dim(1);
    slope = op.reshape(slope, ArrayRef<Dim>(sizes));
  } else if (mode == "all") {
    slope = op.reshape(slope, ArrayRef<int64_t>(Ints(rank, 1)));
  } else {
    return op.fail("attribute 'mode' is '" + mode + "'");
  }
  return op.result("Out", op.op<nn::PReluOp>(x, slope));
}

//===----------------------------------------------------------------------===//
// Sigmoids
//===----------------------------------------------------------------------===//

/// The operator's default slope differs from that of the layer (1/6).
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
  Value clipped = between(op, shifted, 0, threshold);
  return op.result(
      "Out", op.binary<stablehlo::DivOp>(
                 op.binary<stablehlo::MulOp>(x, clipped), op.one(x, scale)));
}

static LogicalResult importSwish(OperatorContext &op) {
  return withFloat<nn::SiluOp>(op, "beta", 1);
}
static LogicalResult importSilu(OperatorContext &op) {
  return op.result("Out", op.op<nn::SiluOp>(op.operand("X"),
                                            op.builder().getF64FloatAttr(1)));
}

/// scale_b * tanh(scale_a * x).
static LogicalResult importScaledTanh(OperatorContext &op) {
  Value x = formats::widened(op, op.operand("X"));
  if (!x)
    return failure();
  Value inner =
      op.binary<stablehlo::MulOp>(x, op.one(x, op.getFloat("scale_a", 0.67)));
  Value result =
      op.binary<stablehlo::MulOp>(op.op<stablehlo::TanhOp>(inner),
                                  op.one(x, op.getFloat("scale_b", 1.7159)));
  return op.result("Out", op.cast(result, op.element(op.operand("X"))));
}

static LogicalResult importTanhShrink(OperatorContext &op) {
  Value x = op.operand("X");
  return op.result(
      "Out", op.op<stablehlo::SubtractOp>(x, op.op<stablehlo::TanhOp>(x)));
}

/// log(1 / (1 + exp(-x))).
static LogicalResult importLogSigmoid(OperatorContext &op) {
  Value x = op.operand("X");
  return op.result("Out", op.op<stablehlo::NegOp>(op.op<nn::SoftplusOp>(
                              op.op<stablehlo::NegOp>(x))));
}

/// log(x / (1 - x)) of x clamped to [eps, 1 - eps]; without eps it is NaN
/// outside of [0, 1].
static LogicalResult importLogit(OperatorContext &op) {
  Value given = op.operand("X"), x = formats::widened(op, given);
  const double eps = op.getFloat("eps", 1e-6);
  if (!x)
    return failure();
  if (eps > 0)
    x = between(op, x, eps, 1 - eps);
  Value odds = op.binary<stablehlo::DivOp>(
      x, op.binary<stablehlo::SubtractOp>(op.one(x, 1), x));
  return op.result("Out",
                   op.cast(op.op<stablehlo::LogOp>(odds), op.element(given)));
}

static LogicalResult importGelu(OperatorContext &op) {
  return op.result("Out", op.op<nn::GeluOp>(op.operand("X"),
                                            op.builder().getBoolAttr(op.getBool(
                                                "approximate", false))));
}

//===----------------------------------------------------------------------===//
// Softplus and similar
//===----------------------------------------------------------------------===//

/// log(1 + exp(beta * x)) / beta, or x if beta * x is above the threshold.
static Value softplus(OperatorContext &op, Value x, double beta,
                      double threshold) {
  if (!x)
    return {};
  // From 20 on the two are equal in f32 and narrower types.
  if (beta == 1 && threshold >= 20 && !op.element(x).isF64())
    return op.op<nn::SoftplusOp>(x);
  Value scaled =
      beta == 1 ? x : op.binary<stablehlo::MulOp>(x, op.one(x, beta));
  Value smooth = op.op<nn::SoftplusOp>(scaled);
  if (beta != 1)
    smooth = op.binary<stablehlo::DivOp>(smooth, op.one(x, beta));
  Value isStraight =
      op.compare(scaled, op.one(x, threshold), ComparisonDirection::GT);
  return select(op, isStraight, x, smooth);
}

static LogicalResult importSoftplus(OperatorContext &op) {
  const double beta = op.getFloat("beta", 1);
  if (beta == 0)
    return op.fail("attribute 'beta' is 0");
  return op.result(
      "Out", softplus(op, op.operand("X"), beta, op.getFloat("threshold", 20)));
}

/// log(1 + exp(x)) of x clamped to [-threshold, threshold].
static LogicalResult importSoftRelu(OperatorContext &op) {
  const double threshold = op.getFloat("threshold", 40);
  return op.result("Out", op.op<nn::SoftplusOp>(between(
                              op, op.operand("X"), -threshold, threshold)));
}

/// x * tanh(softplus(x)).
static LogicalResult importMish(OperatorContext &op) {
  Value x = op.operand("X");
  const double threshold = op.getFloat("threshold", 20);
  if (threshold >= 20)
    return op.result("Out", op.op<nn::MishOp>(x));
  return op.result(
      "Out", op.op<stablehlo::MulOp>(
                 x, op.op<stablehlo::TanhOp>(softplus(op, x, 1, threshold))));
}

/// The maximum of each `groups` consecutive channels.
static LogicalResult importMaxout(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t groups = op.getInt("groups", 1);
  if (!x || op.failed())
    return failure();
  auto axis = op.axis(op.getInt("axis", 1), op.rank(x));
  if (!axis)
    return failure();
  const int64_t channels = op.size(x, *axis);
  if (ShapedType::isDynamic(channels))
    return op.unknown("the number of channels is unknown");
  if (groups < 1 || channels % groups != 0)
    return op.fail("the channels are no multiple of groups");
  Dims sizes = op.dims(x);
  sizes[*axis] = Dim(channels / groups);
  sizes.insert(sizes.begin() + *axis + 1, Dim(groups));
  return op.result("Out", op.reduce<stablehlo::MaxOp>(
                              op.reshape(x, ArrayRef<Dim>(sizes)), {*axis + 1},
                              -std::numeric_limits<double>::infinity(), false));
}

OperatorReaders activationReaders() {
  static const OperatorReader table[] = {
      {"brelu", importBoundedRelu},
      {"celu", importCelu},
      {"elu", importElu},
      {"gelu", importGelu},
      {"hard_shrink", importHardShrink},
      {"hard_sigmoid", importHardSigmoid},
      {"hard_swish", importHardSwish},
      {"leaky_relu", importLeakyRelu},
      {"logit", importLogit},
      {"logsigmoid", importLogSigmoid},
      {"maxout", importMaxout},
      {"mish", importMish},
      {"prelu", importPRelu},
      {"relu", plain<nn::ReluOp>},
      {"relu6", importRelu6},
      {"selu", importSelu},
      {"sigmoid", plain<stablehlo::LogisticOp>},
      {"silu", importSilu},
      {"soft_relu", importSoftRelu},
      {"softplus", importSoftplus},
      {"softshrink", importSoftShrink},
      {"softsign", plain<nn::SoftsignOp>},
      {"stanh", importScaledTanh},
      {"swish", importSwish},
      {"tanh", plain<stablehlo::TanhOp>},
      {"tanh_shrink", importTanhShrink},
      {"thresholded_relu", importThresholdedRelu},
  };
  return table;
}

} // namespace sinter::paddle
