#include "graph/chlo/ExpandComplex.h"

#include "graph/chlo/ComplexFunctions.h"
#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

#include <cmath>

using namespace mlir;

namespace sinter::chlo::complex {
namespace {

using nn::tensorOf;

Value sine(TensorBuilder &emit, Value x) {
  return emit.make<stablehlo::SineOp>(x);
}
Value cosine(TensorBuilder &emit, Value x) {
  return emit.make<stablehlo::CosineOp>(x);
}
Value like(TensorBuilder &emit, double number, Value x) {
  return emit.splat(number, tensorOf(x));
}
Value isZero(TensorBuilder &emit, Value x) {
  return emit.compare(Direction::EQ, x, 0.0);
}

//===----------------------------------------------------------------------===//
// Sums without rounding
//===----------------------------------------------------------------------===//

/// A value as an unevaluated sum of two.
struct Pair {
  Value high, low;
};

/// x^2; T. J. Dekker, "A floating-point technique for extending the available
/// precision", Numerische Mathematik 18 (1971).
Pair exactSquare(TensorBuilder &emit, Value x) {
  Value spread = emit.mul(x, isDouble(x) ? 0x1p27 + 1 : 0x1p12 + 1);
  Value high = emit.sub(spread, emit.sub(spread, x));
  Value low = emit.sub(x, high);
  Value product = emit.mul(x, x);
  Value error = emit.sub(emit.mul(high, high), product);
  Value cross = emit.mul(high, low);
  error = emit.add(error, emit.add(cross, cross));
  return {product, emit.add(error, emit.mul(low, low))};
}

/// D. E. Knuth, The Art of Computer Programming 2, section 4.2.2.
Pair exactSum(TensorBuilder &emit, Value a, Value b) {
  Value sum = emit.add(a, b);
  Value shareB = emit.sub(sum, a);
  Value shareA = emit.sub(sum, shareB);
  return {sum, emit.add(emit.sub(a, shareA), emit.sub(b, shareB))};
}

/// start + x^2 + y^2 as if rounded once.
Value addSquares(TensorBuilder &emit, Value start, Value x, Value y) {
  Pair xx = exactSquare(emit, x), yy = exactSquare(emit, y);
  Pair first = exactSum(emit, start, xx.high);
  Pair second = exactSum(emit, first.high, yy.high);
  Value rest =
      emit.add(emit.add(first.low, second.low), emit.add(xx.low, yy.low));
  return emit.add(second.high, rest);
}

//===----------------------------------------------------------------------===//
// Logarithm and power
//===----------------------------------------------------------------------===//

/// log(sqrt(x^2 + y^2)), and log1p of \p excess = x^2 + y^2 - 1 where that is
/// small and would be lost in x and y alone.
Value logOfLength(TensorBuilder &emit, Value x, Value y,
                  function_ref<Value(Value isNear)> excess) {
  Value greater = emit.max(x, y), lesser = emit.min(x, y);
  Value areEqual = emit.compare(Direction::EQ, lesser, greater);
  Value slope =
      emit.select(areEqual, like(emit, 1, x), emit.div(lesser, greater));
  Value far =
      emit.add(emit.log(greater),
               emit.mul(chlo::log1p(emit, emit.mul(slope, slope)), 0.5));
  Value isNear = both(emit, emit.compare(Direction::GT, greater, 0.5),
                      emit.compare(Direction::LT, greater, 1.5));
  Value near = emit.mul(chlo::log1p(emit, excess(isNear)), 0.5);
  return emit.select(isNear, near, far);
}

Parts log(TensorBuilder &emit, Parts z) {
  Value x = emit.abs(z.re), y = emit.abs(z.im);
  auto excess = [&](Value isNear) {
    Value one = like(emit, 1, x);
    Value greater = emit.select(isNear, emit.max(x, y), one);
    Value lesser = emit.select(isNear, emit.min(x, y), one);
    return addSquares(emit, like(emit, -1, x), greater, lesser);
  };
  return {logOfLength(emit, x, y, excess), atan2(emit, z.im, z.re)};
}

/// x^2 + y^2 - 1 of 1 + z is 2 x + x^2 + y^2.
Parts log1p(TensorBuilder &emit, Parts z) {
  Value above = emit.add(z.re, 1.0);
  auto excess = [&](Value isNear) {
    Value zero = like(emit, 0, z.re);
    Value x = emit.select(isNear, z.re, zero);
    Value y = emit.select(isNear, z.im, zero);
    return addSquares(emit, emit.add(x, x), x, y);
  };
  return {logOfLength(emit, emit.abs(above), emit.abs(z.im), excess),
          atan2(emit, z.im, above)};
}

/// exp(x) (cos(y) + i sin(y)), in two steps where exp(x) alone may overflow.
Parts exp(TensorBuilder &emit, Parts z) {
  Value isFar =
      emit.compare(Direction::GT, z.re, std::log(largestOf(z.re)) - 1);
  Value factor = emit.exp(emit.select(isFar, emit.mul(z.re, 0.5), z.re));
  Value again = emit.select(isFar, factor, like(emit, 1, z.re));
  auto scale = [&](Value x) { return emit.mul(emit.mul(x, factor), again); };
  return {scale(cosine(emit, z.im)),
          emit.select(isZero(emit, z.im), z.im, scale(sine(emit, z.im)))};
}

/// re = expm1(x) cos(y) - 2 sin(y / 2)^2
Parts expm1(TensorBuilder &emit, Parts z) {
  Parts power = exp(emit, z);
  Value half = sine(emit, emit.mul(z.im, 0.5));
  Value near = emit.sub(emit.mul(chlo::expm1(emit, z.re), cosine(emit, z.im)),
                        emit.mul(emit.mul(half, half), 2.0));
  Value isFar = emit.compare(Direction::GT, z.re, 40.0);
  return {emit.select(isFar, power.re, near), power.im};
}

Parts times(TensorBuilder &emit, Parts a, Parts b) {
  return {emit.sub(emit.mul(a.re, b.re), emit.mul(a.im, b.im)),
          emit.add(emit.mul(a.re, b.im), emit.mul(a.im, b.re))};
}

/// R. L. Smith, "Algorithm 116: complex division", Comm. ACM 5 (1962).
Parts divide(TensorBuilder &emit, Parts a, Parts b) {
  Value isFlat = emit.compare(Direction::GE, emit.abs(b.re), emit.abs(b.im));
  Value greater = emit.select(isFlat, b.re, b.im);
  Value lesser = emit.select(isFlat, b.im, b.re);
  Value slope = emit.div(lesser, greater);
  slope = emit.select(isZero(emit, lesser), lesser, slope);
  Value length = emit.add(greater, emit.mul(lesser, slope));
  Value first = emit.select(isFlat, a.re, a.im);
  Value second = emit.select(isFlat, a.im, a.re);
  Value re = emit.div(emit.add(first, emit.mul(second, slope)), length);
  Value im = emit.div(emit.sub(second, emit.mul(first, slope)), length);
  return {re, emit.select(isFlat, im, emit.neg(im))};
}

/// exp(b log(a)); 0 to the power of 0 is 1, of anything else 0.
Parts power(TensorBuilder &emit, Parts a, Parts b) {
  Value zero = like(emit, 0, a.re), one = like(emit, 1, a.re);
  Value isBaseZero = both(emit, isZero(emit, a.re), isZero(emit, a.im));
  Value isExponentZero = both(emit, isZero(emit, b.re), isZero(emit, b.im));
  Parts result = exp(emit, times(emit, b, log(emit, a)));
  Value atZero = emit.select(isExponentZero, one, zero);
  return {emit.select(isBaseZero, atZero, result.re),
          emit.select(isBaseZero, zero, result.im)};
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// With u = sqrt((|z| + |x|) / 2) and v = |y| / (2 u): u + i v, or v + i u
/// where x is negative; W. Kahan, "Branch cuts for complex elementary
/// functions" (1987). Scaled by powers of 4 away from overflow and underflow.
Parts sqrt(TensorBuilder &emit, Parts z) {
  Value x = emit.abs(z.re), y = emit.abs(z.im);
  Value greater = emit.max(x, y);
  const int bits = isDouble(x) ? 54 : 26;
  Value isGreat = emit.compare(Direction::GT, greater, largestOf(x) / 16);
  Value isTiny =
      emit.compare(Direction::LT, greater, isDouble(x) ? 0x1p-900 : 0x1p-80);
  auto byScale = [&](double great, double tiny) {
    return emit.select(
        isGreat, like(emit, great, x),
        emit.select(isTiny, like(emit, tiny, x), like(emit, 1, x)));
  };
  Value scale = byScale(0x1p-4, std::ldexp(1, 2 * bits));
  Value back = byScale(0x1p2, std::ldexp(1, -bits));
  x = emit.mul(x, scale);
  y = emit.mul(y, scale);
  Value u = emit.sqrt(emit.mul(emit.add(hypot(emit, x, y), x), 0.5));
  Value v = emit.div(y, emit.add(u, u));
  // 0 where z is, infinity where y is.
  v = emit.select(either(emit, isZero(emit, y), chlo::isPosInf(emit, y)), y, v);
  u = emit.mul(u, back);
  v = emit.mul(v, back);
  Value isLeft = emit.compare(Direction::LT, z.re, 0.0);
  return {emit.select(isLeft, v, u),
          withSignOf(emit, emit.select(isLeft, u, v), z.im)};
}

Parts rsqrt(TensorBuilder &emit, Parts z) {
  return divide(emit, {like(emit, 1, z.re), like(emit, 0, z.re)},
                sqrt(emit, z));
}

Parts cbrt(TensorBuilder &emit, Parts z) {
  return power(emit, z, {like(emit, 1.0 / 3, z.re), like(emit, 0, z.re)});
}

//===----------------------------------------------------------------------===//
// Circular and hyperbolic
//===----------------------------------------------------------------------===//

/// Kahan (1987): with t = tan(y), b = 1 + t^2, s = sinh(x) and r = sqrt(1 +
/// s^2), (b r s + i t) / (1 + b s^2); for large |x| +-1 + 4 i sin(y) cos(y)
/// exp(-2 |x|).
Parts tanh(TensorBuilder &emit, Parts z) {
  Value isFar =
      emit.compare(Direction::GT, emit.abs(z.re), isDouble(z.re) ? 22.0 : 11.0);
  Value zero = like(emit, 0, z.re);
  Value t = emit.make<stablehlo::TanOp>(z.im);
  Value s = chlo::sinh(emit, emit.select(isFar, zero, z.re));
  Value b = emit.add(emit.mul(t, t), 1.0);
  Value r = emit.sqrt(emit.add(emit.mul(s, s), 1.0));
  Value length = emit.add(emit.mul(b, emit.mul(s, s)), 1.0);
  Value re = emit.div(emit.mul(emit.mul(b, r), s), length);
  Value im = emit.div(t, length);
  Value decay = emit.exp(emit.mul(emit.abs(z.re), -2.0));
  Value farIm = emit.mul(
      emit.mul(emit.mul(sine(emit, z.im), cosine(emit, z.im)), 4.0), decay);
  Value sign = withSignOf(emit, like(emit, 1, z.re), z.re);
  return {emit.select(isFar, sign, re), emit.select(isFar, farIm, im)};
}

/// -i tanh(i z)
Parts tan(TensorBuilder &emit, Parts z) {
  Parts w = tanh(emit, {emit.neg(z.im), z.re});
  return {w.im, emit.neg(w.re)};
}

/// With exp of negative values only: 1 / (1 + exp(-z)), or exp(z) / (1 +
/// exp(z)) where x is negative.
Parts logistic(TensorBuilder &emit, Parts z) {
  Value isLeft = emit.compare(Direction::LT, z.re, 0.0);
  auto flip = [&](Value x) { return emit.select(isLeft, x, emit.neg(x)); };
  Parts decay = exp(emit, {flip(z.re), flip(z.im)});
  Parts above = {emit.select(isLeft, decay.re, like(emit, 1, z.re)),
                 emit.select(isLeft, decay.im, like(emit, 0, z.re))};
  return divide(emit, above, {emit.add(decay.re, 1.0), decay.im});
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// sin(z) = -i sinh(i z), cos(z) = cosh(i z).
Value rotated(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand);
  return join(emit, {emit.neg(z.im), z.re});
}
Parts sineOf(TensorBuilder &emit, Value operand) {
  Parts w = partsOf(emit, complex::sinh(emit, rotated(emit, operand)));
  return {w.im, emit.neg(w.re)};
}
Parts cosineOf(TensorBuilder &emit, Value operand) {
  return partsOf(emit, complex::cosh(emit, rotated(emit, operand)));
}

Value length(TensorBuilder &emit, Parts z) {
  return hypot(emit, emit.abs(z.re), emit.abs(z.im));
}

/// z / |z|; 0 at 0.
Parts sign(TensorBuilder &emit, Parts z) {
  Value size = length(emit, z);
  auto scale = [&](Value x) {
    return emit.select(isZero(emit, size), x, emit.div(x, size));
  };
  return {scale(z.re), scale(z.im)};
}

Value expand(TensorBuilder &emit, Operation *op) {
  Parts z = partsOf(emit, op->getOperand(0));
  auto second = [&] { return partsOf(emit, op->getOperand(1)); };
  auto joined = [&](Parts parts) { return join(emit, parts); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::ExpOp) { return joined(exp(emit, z)); })
      .Case([&](stablehlo::Expm1Op) { return joined(expm1(emit, z)); })
      .Case([&](stablehlo::LogOp) { return joined(log(emit, z)); })
      .Case([&](stablehlo::Log1pOp) { return joined(log1p(emit, z)); })
      .Case([&](stablehlo::SqrtOp) { return joined(sqrt(emit, z)); })
      .Case([&](stablehlo::RsqrtOp) { return joined(rsqrt(emit, z)); })
      .Case([&](stablehlo::CbrtOp) { return joined(cbrt(emit, z)); })
      .Case([&](stablehlo::TanhOp) { return joined(tanh(emit, z)); })
      .Case([&](stablehlo::TanOp) { return joined(tan(emit, z)); })
      .Case([&](stablehlo::LogisticOp) { return joined(logistic(emit, z)); })
      .Case([&](stablehlo::SineOp) {
        return joined(sineOf(emit, op->getOperand(0)));
      })
      .Case([&](stablehlo::CosineOp) {
        return joined(cosineOf(emit, op->getOperand(0)));
      })
      .Case([&](stablehlo::SignOp) { return joined(sign(emit, z)); })
      .Case([&](stablehlo::AbsOp) { return length(emit, z); })
      .Case([&](stablehlo::DivOp) { return joined(divide(emit, z, second())); })
      .Case([&](stablehlo::PowOp) { return joined(power(emit, z, second())); })
      .Default([](Operation *) { return Value(); });
}

} // namespace
} // namespace sinter::chlo::complex

namespace sinter {

FailureOr<Value> expandComplex(Operation *op, OpBuilder &builder) {
  using namespace stablehlo;
  bool isKnown =
      isa<ExpOp, Expm1Op, LogOp, Log1pOp, SqrtOp, RsqrtOp, CbrtOp, TanhOp,
          TanOp, LogisticOp, SineOp, CosineOp, SignOp, AbsOp, DivOp, PowOp>(op);
  if (!isKnown || !chlo::isComplexTensor(op->getOperand(0)))
    return failure();
  nn::TensorBuilder emit(builder, op->getLoc());
  emit.setShape(op->getOperand(0));
  return chlo::complex::expand(emit, op);
}

} // namespace sinter
