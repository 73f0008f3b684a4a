// Real circular and hyperbolic functions and their inverses.

#include "graph/chlo/ComplexFunctions.h"
#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

#include <cmath>

using namespace mlir;

namespace sinter::chlo {

using nn::tensorOf;

/// FUNCTION(name, { expression of emit and x }): the given expression for real
/// x, the complex one of ComplexFunctions.h.
#define FUNCTION(name, ...)                                                    \
  static Value name##OfReal(TensorBuilder &emit, Value x) __VA_ARGS__ Value    \
  name(TensorBuilder &emit, Value operand) {                                   \
    if (isComplexTensor(operand))                                              \
      return complex::name(emit, operand);                                     \
    return inWideType(emit, operand, [&](ValueRange operands) {                \
      return name##OfReal(emit, operands[0]);                                  \
    });                                                                        \
  }

/// atan2(x, sqrt((1 - x)(1 + x)))
FUNCTION(asin, {
  Value cosine = emit.sqrt(emit.mul(from(emit, 1, x), emit.add(x, 1.0)));
  return atan2(emit, x, cosine);
})

/// 2 atan2(sqrt(1 - x), sqrt(1 + x)), by half the angle.
FUNCTION(acos, {
  Value half =
      atan2(emit, emit.sqrt(from(emit, 1, x)), emit.sqrt(emit.add(x, 1.0)));
  return emit.add(half, half);
})

FUNCTION(atan, { return atan2(emit, x, emit.splat(1, tensorOf(x))); })

/// log(2 x), for x so large that 2 x may overflow.
static Value logOfTwice(TensorBuilder &emit, Value x) {
  return emit.add(emit.log(x), M_LN2);
}

/// sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
FUNCTION(asinh, {
  Value magnitude = emit.abs(x);
  double limit = std::sqrt(largestOf(x)) / 2;
  Value bounded = emit.min(magnitude, limit);
  Value square = emit.mul(bounded, bounded);
  Value root = emit.add(emit.sqrt(emit.add(square, 1.0)), 1.0);
  Value near = log1p(emit, emit.add(bounded, emit.div(square, root)));
  Value isFar = emit.compare(Direction::GT, magnitude, limit);
  return withSignOf(emit, emit.select(isFar, logOfTwice(emit, magnitude), near),
                    x);
})

/// log1p(t (t + sqrt(x + 1))) with t = sqrt(x - 1)
FUNCTION(acosh, {
  Value below = emit.sqrt(emit.sub(x, 1.0));
  Value above = emit.sqrt(emit.add(x, 1.0));
  Value near = log1p(emit, emit.mul(below, emit.add(below, above)));
  Value isFar = emit.compare(Direction::GT, x, largestOf(x) / 8);
  return emit.select(isFar, logOfTwice(emit, x), near);
})

/// sign(x) log1p(2 |x| / (1 - |x|)) / 2
FUNCTION(atanh, {
  Value magnitude = emit.abs(x);
  Value ratio =
      emit.div(emit.add(magnitude, magnitude), from(emit, 1, magnitude));
  return withSignOf(emit, emit.mul(log1p(emit, ratio), 0.5), x);
})

/// Where exp(|x|) may overflow though exp(|x|) / 2 does not.
static Value isNearOverflow(TensorBuilder &emit, Value magnitude) {
  return emit.compare(Direction::GT, magnitude,
                      std::log(largestOf(magnitude)) - 1);
}

/// exp(x) / 2 for large x.
static Value halfOfGreatPower(TensorBuilder &emit, Value x) {
  Value root = emit.exp(emit.mul(x, 0.5));
  return emit.mul(emit.mul(root, 0.5), root);
}

/// (e + 1 / e) / 2 with e = exp(|x|)
Value preciseCosh(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0];
    Value magnitude = emit.abs(x);
    Value power = emit.exp(magnitude);
    Value near = emit.add(emit.mul(power, 0.5),
                          emit.div(emit.splat(0.5, tensorOf(x)), power));
    return emit.select(isNearOverflow(emit, magnitude),
                       halfOfGreatPower(emit, magnitude), near);
  });
}

/// sign(x) (u + u / (u + 1)) / 2 with u = exp(|x|) - 1
Value preciseSinh(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0];
    Value magnitude = emit.abs(x);
    Value u = expm1(emit, magnitude);
    Value near = emit.mul(emit.add(u, emit.div(u, emit.add(u, 1.0))), 0.5);
    return withSignOf(emit,
                      emit.select(isNearOverflow(emit, magnitude),
                                  halfOfGreatPower(emit, magnitude), near),
                      x);
  });
}

/// exp(x) / 2 as in the reference decomposition of chlo's functions: rounding
/// of the exponent costs |x| / 2 units in the last place. The public f32 test
/// values were computed that way, with a tolerance of less than one such unit.
static Value halfOfPower(TensorBuilder &emit, Value x) {
  return emit.exp(emit.add(x, -M_LN2));
}

/// exp(x + log(1/2)) + exp(-x + log(1/2)) in f32
FUNCTION(cosh, {
  if (isDouble(x))
    return preciseCosh(emit, x);
  return emit.add(halfOfPower(emit, x), halfOfPower(emit, emit.neg(x)));
})

/// In f32, (u + u / (u + 1)) / 2 with u = exp(x) - 1 where |x| < 1, else
/// exp(x + log(1/2)) - exp(-x + log(1/2)).
FUNCTION(sinh, {
  if (isDouble(x))
    return preciseSinh(emit, x);
  Value u = expm1(emit, x);
  Value near = emit.mul(emit.add(u, emit.div(u, emit.add(u, 1.0))), 0.5);
  Value far = emit.sub(halfOfPower(emit, x), halfOfPower(emit, emit.neg(x)));
  return emit.select(emit.compare(Direction::LT, emit.abs(x), 1.0), near, far);
})

#undef FUNCTION

Value tan(TensorBuilder &emit, Value x) {
  return emit.make<stablehlo::TanOp>(x);
}

Value square(TensorBuilder &emit, Value x) {
  return isComplexTensor(x) ? complex::square(emit, x) : emit.mul(x, x);
}

Value conj(TensorBuilder &emit, Value x) {
  if (!isComplexTensor(x))
    return x;
  complex::Parts z = complex::partsOf(emit, x);
  return complex::join(emit, {z.re, emit.neg(z.im)});
}

Value asinAcosKernel(TensorBuilder &emit, Value z) {
  complex::Parts parts = complex::partsOf(emit, z);
  return complex::join(emit, complex::asinAcosKernel(emit, emit.abs(parts.re),
                                                     emit.abs(parts.im)));
}

} // namespace sinter::chlo
