// Activations and other elementwise functions, built from stablehlo.

#include "graph/nn/Emit.h"

#include <cmath>

using namespace mlir;

namespace sinter::nn {

using Direction = stablehlo::ComparisonDirection;

/// FUNCTION(Op, { expression of emit, x and op })
#define FUNCTION(Op, ...)                                                      \
  FailureOr<SmallVector<Value>> Op::decompose(OpBuilder &builder) {            \
    if (!isStatic(*this))                                                      \
      return failure();                                                        \
    Emit emit(builder, getLoc());                                              \
    Value x = getOperand();                                                    \
    [[maybe_unused]] auto number = [](const APFloat &value) {                  \
      return value.convertToDouble();                                          \
    };                                                                         \
    auto build = [&]() -> Value __VA_ARGS__;                                   \
    return SmallVector<Value>{build()};                                        \
  }

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which does not overflow.
static Value softplus(Emit &emit, Value x) {
  Value tail = emit.make<stablehlo::Log1pOp>(emit.exp(emit.neg(emit.abs(x))));
  return emit.add(emit.max(x, 0.0), tail);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

FUNCTION(ReluOp, { return emit.max(x, 0.0); })
FUNCTION(LeakyReluOp, {
  return emit.select(emit.compare(Direction::GE, x, 0.0), x,
                     emit.mul(x, number(getAlpha())));
})
FUNCTION(EluOp, {
  Value below = emit.mul(emit.make<stablehlo::Expm1Op>(x), number(getAlpha()));
  return emit.select(emit.compare(Direction::GT, x, 0.0), x, below);
})
FUNCTION(CeluOp, {
  double alpha = number(getAlpha());
  Value below =
      emit.mul(emit.make<stablehlo::Expm1Op>(emit.div(x, alpha)), alpha);
  return emit.add(emit.max(x, 0.0), emit.min(below, 0.0));
})
FUNCTION(SeluOp, {
  Value below = emit.mul(emit.make<stablehlo::Expm1Op>(x), number(getAlpha()));
  Value both = emit.select(emit.compare(Direction::GT, x, 0.0), x, below);
  return emit.mul(both, number(getGamma()));
})
FUNCTION(ThresholdedReluOp, {
  return emit.select(emit.compare(Direction::GT, x, number(getAlpha())), x,
                     emit.splat(0, tensorOf(x)));
})
FUNCTION(HardSigmoidOp, {
  Value line = emit.add(emit.mul(x, number(getAlpha())), number(getBeta()));
  return emit.min(emit.max(line, 0.0), 1.0);
})
FUNCTION(HardSwishOp, {
  Value gate = emit.add(emit.mul(x, 1.0 / 6), 0.5);
  return emit.mul(x, emit.min(emit.max(gate, 0.0), 1.0));
})
FUNCTION(SiluOp, {
  double alpha = number(getAlpha());
  Value scaled = alpha == 1 ? x : emit.mul(x, alpha);
  return emit.mul(x, emit.make<stablehlo::LogisticOp>(scaled));
})
FUNCTION(MishOp, {
  return emit.mul(x, emit.make<stablehlo::TanhOp>(softplus(emit, x)));
})
FUNCTION(SoftplusOp, { return softplus(emit, x); })
FUNCTION(SoftsignOp, { return emit.div(x, emit.add(emit.abs(x), 1.0)); })
FUNCTION(ShrinkOp, {
  double bias = number(getBias());
  double lambda = number(getLambda());
  Value zero = emit.splat(0, tensorOf(x));
  Value above = emit.select(emit.compare(Direction::GT, x, lambda),
                            emit.sub(x, bias), zero);
  return emit.select(emit.compare(Direction::LT, x, -lambda), emit.add(x, bias),
                     above);
})
FUNCTION(GeluOp, {
  Value inner;
  if (getApproximate()) {
    // Hendrycks & Gimpel, "Gaussian error linear units", section 2.
    Value cube = emit.mul(emit.mul(x, x), x);
    Value line =
        emit.mul(emit.add(x, emit.mul(cube, 0.044715)), std::sqrt(2 / M_PI));
    inner = emit.make<stablehlo::TanhOp>(line);
  } else {
    inner = emit.make<ErfOp>(emit.mul(x, M_SQRT1_2));
  }
  return emit.mul(emit.mul(x, 0.5), emit.add(inner, 1.0));
})

FailureOr<SmallVector<Value>> PReluOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  Emit emit(builder, getLoc());
  Value x = getOperand();
  Value slope = emit.broadcastTrailing(getSlope(), tensorOf(x).getShape());
  return SmallVector<Value>{
      emit.select(emit.compare(Direction::LT, x, 0.0), emit.mul(x, slope), x)};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// c[0] + x * (c[1] + x * (c[2] + ...)), the last coefficient first.
static Value polynomial(Emit &emit, Value x, ArrayRef<double> descending) {
  Value result = emit.splat(descending.front(), tensorOf(x));
  for (double coefficient : descending.drop_front())
    result = emit.add(emit.mul(result, x), coefficient);
  return result;
}

/// W. J. Cody, "Rational Chebyshev approximations for the error function",
/// Math. Comp. 23 (1969): erf(x) = x R(x^2) up to 0.46875 and
/// 1 - exp(-x^2) S(x) beyond.
static Value erf(Emit &emit, Value x) {
  static constexpr double a[] = {1.85777706184603153e-1, 3.16112374387056560e0,
                                 1.13864154151050156e2, 3.77485237685302021e2,
                                 3.20937758913846947e3};
  static constexpr double b[] = {1, 2.36012909523441209e1,
                                 2.44024637934444173e2, 1.28261652607737228e3,
                                 2.84423683343917062e3};
  static constexpr double c[] = {
      2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
      6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
      1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
  static constexpr double d[] = {1,
                                 1.57449261107098347e1,
                                 1.17693950891312499e2,
                                 5.37181101862009858e2,
                                 1.62138957456669019e3,
                                 3.29079923573345963e3,
                                 4.36261909014324716e3,
                                 3.43936767414372164e3,
                                 1.23033935480374942e3};
  Value magnitude = emit.abs(x);
  Value square = emit.mul(x, x);
  Value nearZero = emit.mul(
      x, emit.div(polynomial(emit, square, a), polynomial(emit, square, b)));
  // Beyond 6 the result is 1 in every type; the clamp keeps the powers finite.
  Value bounded = emit.min(magnitude, 6.0);
  Value complement = emit.mul(
      emit.exp(emit.neg(emit.mul(bounded, bounded))),
      emit.div(polynomial(emit, bounded, c), polynomial(emit, bounded, d)));
  Value far = emit.sub(emit.splat(1, tensorOf(x)), complement);
  Value signedFar = emit.mul(emit.make<stablehlo::SignOp>(x), far);
  return emit.select(emit.compare(Direction::LE, magnitude, 0.46875), nearZero,
                     signedFar);
}

/// Evaluates in f32 where the type is smaller: the coefficients do not fit.
FUNCTION(ErfOp, {
  Type element = tensorOf(x).getElementType();
  if (element.getIntOrFloatBitWidth() >= 32)
    return erf(emit, x);
  return emit.convert(erf(emit, emit.convert(x, builder.getF32Type())),
                      element);
})
FUNCTION(AtanOp, {
  return emit.make<stablehlo::Atan2Op>(x, emit.splat(1, tensorOf(x)));
})
/// asin(x) = 2 atan2(x, 1 + sqrt((1 - x)(1 + x)))
FUNCTION(AsinOp, {
  Value one = emit.splat(1, tensorOf(x));
  Value root = emit.sqrt(emit.mul(emit.sub(one, x), emit.add(one, x)));
  return emit.mul(emit.make<stablehlo::Atan2Op>(x, emit.add(one, root)), 2.0);
})
/// acos(x) = 2 atan2(sqrt((1 - x)(1 + x)), 1 + x)
FUNCTION(AcosOp, {
  Value one = emit.splat(1, tensorOf(x));
  Value root = emit.sqrt(emit.mul(emit.sub(one, x), emit.add(one, x)));
  return emit.mul(emit.make<stablehlo::Atan2Op>(root, emit.add(one, x)), 2.0);
})
/// acosh(x) = log(x + sqrt(x - 1) sqrt(x + 1))
FUNCTION(AcoshOp, {
  Value root =
      emit.mul(emit.sqrt(emit.sub(x, 1.0)), emit.sqrt(emit.add(x, 1.0)));
  return emit.log(emit.add(x, root));
})
/// asinh(x) = sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
FUNCTION(AsinhOp, {
  Value square = emit.mul(x, x);
  Value root = emit.add(emit.sqrt(emit.add(square, 1.0)), 1.0);
  Value inner = emit.add(emit.abs(x), emit.div(square, root));
  return emit.mul(emit.make<stablehlo::SignOp>(x),
                  emit.make<stablehlo::Log1pOp>(inner));
})
FUNCTION(AtanhOp, {
  Value difference = emit.sub(emit.make<stablehlo::Log1pOp>(x),
                              emit.make<stablehlo::Log1pOp>(emit.neg(x)));
  return emit.mul(difference, 0.5);
})
/// The factor 1/2 goes into the exponent, so that only what overflows does.
FUNCTION(CoshOp, {
  return emit.add(emit.exp(emit.sub(x, M_LN2)),
                  emit.exp(emit.sub(emit.neg(x), M_LN2)));
})
/// Near zero through expm1: (u + u / (u + 1)) / 2 with u = exp(x) - 1.
FUNCTION(SinhOp, {
  Value u = emit.make<stablehlo::Expm1Op>(x);
  Value near = emit.mul(emit.add(u, emit.div(u, emit.add(u, 1.0))), 0.5);
  Value far = emit.sub(emit.exp(emit.sub(x, M_LN2)),
                       emit.exp(emit.sub(emit.neg(x), M_LN2)));
  return emit.select(emit.compare(Direction::LT, emit.abs(x), 1.0), near, far);
})

} // namespace sinter::nn
