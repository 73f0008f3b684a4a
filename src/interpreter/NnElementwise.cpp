//===- NnElementwise.cpp - activations and other functions ----------------===//
//
// Computed in double by the formulas of the operations' summaries, and rounded
// once.
//
//===----------------------------------------------------------------------===//

#include "graph/nn/NnDropout.h"
#include "interpreter/ElementwiseLoops.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace mlir;

namespace sinter::interpreter {

/// The operand with \p function(double) applied to each element.
template <typename F> static Result<Tensors> mapped(const Call &call, F f) {
  return produce(call[0].type(), call[0].shape(), [&](Tensor &result) {
    loopReal<1>(f, call.operands, result);
  });
}

static double number(const APFloat &attribute) {
  return attribute.convertToDouble();
}

/// \p x clamped to [0, 1]; NaN stays.
static double clampToOne(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

#define PLAIN(Name, expression)                                                \
  static Result<Tensors> evaluate##Name(const Call &call) {                    \
    return mapped(call, [](double x) -> double { return expression; });        \
  }
PLAIN(Acos, std::acos(x))
PLAIN(Acosh, std::acosh(x))
PLAIN(Asin, std::asin(x))
PLAIN(Asinh, std::asinh(x))
PLAIN(Atan, std::atan(x))
PLAIN(Atanh, std::atanh(x))
PLAIN(Cosh, std::cosh(x))
PLAIN(Sinh, std::sinh(x))
PLAIN(Erf, std::erf(x))
PLAIN(Erfc, std::erfc(x))
PLAIN(HardSwish, x *clampToOne(x / 6 + 0.5))
PLAIN(Softsign, x / (1 + std::fabs(x)))
#undef PLAIN

/// log(1 + exp(x)), without overflow.
static double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

static Result<Tensors> evaluateSoftplus(const Call &call) {
  return mapped(call, softplus);
}
static Result<Tensors> evaluateMish(const Call &call) {
  return mapped(call, [](double x) { return x * std::tanh(softplus(x)); });
}

static Result<Tensors> evaluateRelu(const Call &call) {
  // 64-bit integers do not fit into double.
  if (isInteger(call[0].type()))
    return produce(call[0].type(), call[0].shape(), [&](Tensor &result) {
      auto relu = [](auto x) { return x < 0 ? decltype(x)(0) : x; };
      const std::byte *from[] = {call[0].data()};
      loopInteger<1>(relu, result.type(), result.size(), from,
                     result.mutableBytes());
    });
  // NaN stays.
  return mapped(call, [](double x) { return x <= 0 ? 0.0 : x; });
}

static Result<Tensors> evaluateLeakyRelu(const Call &call) {
  const double alpha = number(call.as<nn::LeakyReluOp>().getAlpha());
  return mapped(call, [=](double x) { return x < 0 ? alpha * x : x; });
}

static Result<Tensors> evaluateElu(const Call &call) {
  const double alpha = number(call.as<nn::EluOp>().getAlpha());
  return mapped(call,
                [=](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}

static Result<Tensors> evaluateCelu(const Call &call) {
  const double alpha = number(call.as<nn::CeluOp>().getAlpha());
  return mapped(call, [=](double x) {
    const double below = alpha * std::expm1(x / alpha);
    return std::isnan(x) ? x : std::max(0.0, x) + std::min(below, 0.0);
  });
}

static Result<Tensors> evaluateSelu(const Call &call) {
  auto op = call.as<nn::SeluOp>();
  const double alpha = number(op.getAlpha()), gamma = number(op.getGamma());
  return mapped(call, [=](double x) {
    return gamma * (x > 0 ? x : alpha * std::expm1(x));
  });
}

static Result<Tensors> evaluateThresholdedRelu(const Call &call) {
  const double alpha = number(call.as<nn::ThresholdedReluOp>().getAlpha());
  return mapped(call, [=](double x) { return x > alpha ? x : 0.0; });
}

static Result<Tensors> evaluateHardSigmoid(const Call &call) {
  auto op = call.as<nn::HardSigmoidOp>();
  const double alpha = number(op.getAlpha()), beta = number(op.getBeta());
  return mapped(call, [=](double x) { return clampToOne(alpha * x + beta); });
}

static Result<Tensors> evaluateSilu(const Call &call) {
  const double alpha = number(call.as<nn::SiluOp>().getAlpha());
  return mapped(call, [=](double x) { return x / (1 + std::exp(-alpha * x)); });
}

static Result<Tensors> evaluateShrink(const Call &call) {
  auto op = call.as<nn::ShrinkOp>();
  const double bias = number(op.getBias()), lambda = number(op.getLambda());
  return mapped(call, [=](double x) {
    return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0;
  });
}

/// Phi is the cumulative distribution function of the normal distribution; the
/// approximation is Hendrycks and Gimpel's, "Gaussian Error Linear Units",
/// 2016.
static Result<Tensors> evaluateGelu(const Call &call) {
  using std::numbers::inv_sqrtpi;
  using std::numbers::sqrt2;
  if (call.as<nn::GeluOp>().getApproximate())
    return mapped(call, [](double x) {
      const double inner = sqrt2 * inv_sqrtpi * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    });
  return mapped(call, [](double x) { return 0.5 * x * std::erfc(-x / sqrt2); });
}

static Result<Tensors> evaluatePRelu(const Call &call) {
  const Tensor &operand = call[0], &slope = call[1];
  const auto common = broadcastShapes(operand.shape(), slope.shape());
  if (!common || toShape(*common) != operand.shape())
    return invalidModel("the slope does not broadcast to the operand");
  return produce(operand.type(), operand.shape(), [&](Tensor &result) {
    Tensor slopes = broadcastTo(slope, operand.shape());
    const Tensor operands[] = {operand, slopes};
    auto prelu = [](double x, double s) { return x < 0 ? s * x : x; };
    loopReal<2>(prelu, operands, result);
  });
}

static Result<Tensors> evaluateDropout(const Call &call) {
  if (call.operands.size() == 1)
    return Tensors{call[0]};
  const double share = 1 - number(call.as<nn::DropoutOp>().getRatio());
  Result<Tensors> kept = mapped(call, [=](double x) { return x / share; });
  if (!kept)
    return kept;
  const size_t size = byteSize(call[0].type());
  std::byte *elements = kept->front().mutableBytes();
  for (int64_t i = 0; i < call[1].size(); ++i)
    if (call[1].toInteger(i) == 0)
      std::fill_n(elements + static_cast<size_t>(i) * size, size, std::byte(0));
  return kept;
}

void registerNnElementwise(Registry &registry) {
#define ELEMENTWISE(Name) registry.addElementwise<nn::Name##Op>(evaluate##Name);
  ELEMENTWISE(Acos)
  ELEMENTWISE(Acosh)
  ELEMENTWISE(Asin)
  ELEMENTWISE(Asinh)
  ELEMENTWISE(Atan)
  ELEMENTWISE(Atanh)
  ELEMENTWISE(Cosh)
  ELEMENTWISE(Sinh)
  ELEMENTWISE(Erf)
  ELEMENTWISE(Erfc)
  ELEMENTWISE(Relu)
  ELEMENTWISE(LeakyRelu)
  ELEMENTWISE(Elu)
  ELEMENTWISE(Celu)
  ELEMENTWISE(Selu)
  ELEMENTWISE(ThresholdedRelu)
  ELEMENTWISE(HardSigmoid)
  ELEMENTWISE(HardSwish)
  ELEMENTWISE(Silu)
  ELEMENTWISE(Mish)
  ELEMENTWISE(Softplus)
  ELEMENTWISE(Softsign)
  ELEMENTWISE(Shrink)
  ELEMENTWISE(Gelu)
#undef ELEMENTWISE
  registry.add<nn::PReluOp>(evaluatePRelu);
  registry.add<nn::DropoutOp>(evaluateDropout);
}

} // namespace sinter::interpreter
