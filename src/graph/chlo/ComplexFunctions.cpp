#include "graph/chlo/ComplexFunctions.h"

#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

#include <cmath>

using namespace mlir;

namespace sinter::chlo::complex {

using nn::tensorOf;

Parts partsOf(TensorBuilder &emit, Value z) {
  auto type = tensorOf(z).clone(realElementOf(z));
  return {emit.make<stablehlo::RealOp>(type, z),
          emit.make<stablehlo::ImagOp>(type, z)};
}

Value join(TensorBuilder &emit, Parts parts) {
  return emit.make<stablehlo::ComplexOp>(parts.re, parts.im);
}

/// a / b, but 1 where both are the same, infinite or zero.
static Value ratio(TensorBuilder &emit, Value a, Value b) {
  return emit.select(emit.compare(Direction::EQ, a, b),
                     emit.splat(1, tensorOf(a)), emit.div(a, b));
}

Value hypot(TensorBuilder &emit, Value a, Value b) {
  Value greater = emit.max(a, b), lesser = emit.min(a, b);
  Value slope = ratio(emit, lesser, greater);
  Value root = emit.sqrt(emit.add(emit.mul(slope, slope), 1.0));
  return emit.mul(greater, root);
}

/// Beyond this a square may be infinite.
static double safeLimit(Value x) { return std::sqrt(largestOf(x)) / 8; }

/// log(sqrt(x^2 + y^2)) for large x or y.
static Value logOfGreat(TensorBuilder &emit, Value x, Value y) {
  Value greater = emit.max(x, y), lesser = emit.min(x, y);
  Value slope = ratio(emit, lesser, greater);
  return emit.add(emit.log(greater),
                  emit.mul(log1p(emit, emit.mul(slope, slope)), 0.5));
}

/// T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, "Implementing the complex
/// arcsine and arccosine functions using exception handling", ACM Trans. Math.
/// Software 23 (1997). With r = |z + 1|, s = |z - 1|, a = (r + s) / 2: re^2 =
/// (a - x)(a + x) and im = log(a + sqrt(a^2 - 1)); the differences a - x and a
/// - 1 are taken without cancellation. Factors y are taken out of the roots, so
/// that y^2 does not underflow.
Parts asinAcosKernel(TensorBuilder &emit, Value x, Value y) {
  const double limit = safeLimit(x);
  Value isGreat = emit.compare(Direction::GE, emit.max(x, y), limit);
  Value one = emit.splat(1, tensorOf(x));
  // Harmless inputs where another branch gives the result.
  Value u = emit.select(isGreat, one, x), v = emit.select(isGreat, one, y);

  Value above = emit.add(u, 1.0), below = emit.sub(u, 1.0);
  Value r = hypot(emit, above, v);
  Value s = hypot(emit, emit.abs(below), v);
  Value a = emit.mul(emit.add(r, s), 0.5);
  Value sum = emit.add(r, above);                  // r + x + 1
  Value inner = emit.sub(s, below);                // s + 1 - x
  Value outer = emit.add(s, below);                // s + x - 1
  Value halfOuter = emit.mul(emit.add(a, u), 0.5); // (a + x) / 2
  Value isInner = emit.compare(Direction::LE, u, 1.0);

  // sqrt((a - x)(a + x)) with a - x = (y^2 / (r + x + 1) + s + 1 - x) / 2,
  // where s + 1 - x = y^2 / (s + x - 1).
  Value share = emit.div(v, sum); // y / (r + x + 1)
  Value innerRe =
      emit.sqrt(emit.mul(halfOuter, emit.add(emit.mul(v, share), inner)));
  Value outerRe = emit.mul(
      v, emit.sqrt(emit.mul(
             halfOuter, emit.add(over(emit, 1, sum), over(emit, 1, outer)))));
  Value re = emit.select(isInner, innerRe, outerRe);

  // log1p((a - 1) + sqrt((a - 1)(a + 1))) with
  // a - 1 = (y^2 / (r + x + 1) + s + x - 1) / 2.
  Value halfMore = emit.mul(emit.add(a, 1.0), 0.5); // (a + 1) / 2
  Value isLess = emit.compare(Direction::LT, u, 1.0);
  Value shares = emit.add(over(emit, 1, sum), over(emit, 1, inner));
  Value lessRoot = emit.mul(v, emit.sqrt(emit.mul(halfMore, shares)));
  Value lessRest = emit.mul(emit.mul(v, 0.5), emit.mul(v, shares));
  Value moreTwice = emit.add(emit.mul(v, share), outer); // 2 (a - 1)
  Value moreRoot = emit.sqrt(emit.mul(halfMore, moreTwice));
  Value moreRest = emit.mul(moreTwice, 0.5);
  Value im = log1p(emit, emit.add(emit.select(isLess, lessRest, moreRest),
                                  emit.select(isLess, lessRoot, moreRoot)));

  Value greatIm = emit.add(logOfGreat(emit, x, y), M_LN2);
  return {emit.select(isGreat, y, re), emit.select(isGreat, greatIm, im)};
}

static Parts kernelOf(TensorBuilder &emit, const Parts &z) {
  return asinAcosKernel(emit, emit.abs(z.re), emit.abs(z.im));
}

Value asin(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand), w = kernelOf(emit, z);
  return join(emit, {atan2(emit, z.re, w.re), withSignOf(emit, w.im, z.im)});
}

Value acos(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand), w = kernelOf(emit, z);
  return join(
      emit, {atan2(emit, w.re, z.re), emit.neg(withSignOf(emit, w.im, z.im))});
}

/// -i asin(i z)
Value asinh(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand);
  Parts w = kernelOf(emit, {z.im, z.re});
  return join(emit, {withSignOf(emit, w.im, z.re), atan2(emit, z.im, w.re)});
}

/// i acos(z), on the side where the real part is not negative.
Value acosh(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand), w = kernelOf(emit, z);
  return join(emit, {w.im, withSignOf(emit, atan2(emit, w.re, z.re), z.im)});
}

/// re = log1p(4 x / ((1 - x)^2 + y^2)) / 4,
/// im = atan2(2 y, (1 - x)(1 + x) - y^2) / 2, of x >= 0;
/// W. Kahan, "Branch cuts for complex elementary functions", The State of the
/// Art in Numerical Analysis (1987).
static Parts atanhOf(TensorBuilder &emit, const Parts &z) {
  Value x = emit.abs(z.re), y = emit.abs(z.im);
  Value isGreat = emit.compare(Direction::GE, emit.max(x, y), safeLimit(x));
  Value one = emit.splat(1, tensorOf(x));
  Value u = emit.select(isGreat, one, x), v = emit.select(isGreat, one, y);

  Value less = emit.sub(one, u), square = emit.mul(v, v);
  Value distance = emit.add(emit.mul(less, less), square);
  Value near =
      emit.mul(log1p(emit, emit.div(emit.mul(u, 4.0), distance)), 0.25);
  // At 1 + i y where y^2 underflows: log(2 / y) / 2.
  Value isPole = both(emit, emit.compare(Direction::EQ, u, one),
                      emit.compare(Direction::LT, v, 1 / safeLimit(x)));
  Value atPole = emit.mul(from(emit, M_LN2, emit.log(v)), 0.5);
  near = emit.select(isPole, atPole, near);
  Value difference = emit.sub(emit.mul(less, emit.add(u, 1.0)), square);
  Value angle = emit.mul(atan2(emit, emit.add(v, v), difference), 0.5);

  // For large |z| re = x / (x^2 + y^2), and im is pi / 2.
  Value greater = emit.max(x, y);
  Value slope = ratio(emit, emit.min(x, y), greater);
  Value far = emit.div(
      emit.div(ratio(emit, x, greater), emit.add(emit.mul(slope, slope), 1.0)),
      greater);
  return {
      withSignOf(emit, emit.select(isGreat, far, near), z.re),
      withSignOf(emit,
                 emit.select(isGreat, emit.splat(M_PI_2, tensorOf(x)), angle),
                 z.im)};
}

Value atanh(TensorBuilder &emit, Value operand) {
  return join(emit, atanhOf(emit, partsOf(emit, operand)));
}

/// -i atanh(i z)
Value atan(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand);
  Parts w = atanhOf(emit, {z.im, z.re});
  return join(emit, {w.im, w.re});
}

/// The product of cosh(x) or sinh(|x|), given as \p hyperbolic, and the sine or
/// cosine \p circular, where the former may overflow though the product does
/// not. Infinity times a sine of 0 is 0: that one is exact.
static Value hyperbolicTimes(TensorBuilder &emit, Value x, Value hyperbolic,
                             Value circular) {
  Value magnitude = emit.abs(x);
  // exp(x) / 2 in four factors: its product with even the smallest float may be
  // finite.
  Value root = emit.exp(emit.mul(magnitude, 0.25));
  Value far = emit.mul(emit.mul(circular, root), root);
  far = emit.mul(emit.mul(emit.mul(far, 0.5), root), root);
  Value isFar =
      emit.compare(Direction::GT, magnitude, std::log(largestOf(x)) - 2);
  Value product = emit.select(isFar, far, emit.mul(hyperbolic, circular));
  return emit.select(emit.compare(Direction::EQ, circular, 0.0), circular,
                     product);
}

/// sinh(x) cos(y) + i cosh(x) sin(y)
Value sinh(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand);
  Value re = hyperbolicTimes(emit, z.re, chlo::sinh(emit, emit.abs(z.re)),
                             emit.make<stablehlo::CosineOp>(z.im));
  // sinh has the sign of x; its factor may have one, too.
  re = emit.mul(re, withSignOf(emit, emit.splat(1, tensorOf(re)), z.re));
  return join(emit, {re, hyperbolicTimes(emit, z.re, chlo::cosh(emit, z.re),
                                         emit.make<stablehlo::SineOp>(z.im))});
}

/// cosh(x) cos(y) + i sinh(x) sin(y)
Value cosh(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand);
  Value im = hyperbolicTimes(emit, z.re, chlo::sinh(emit, emit.abs(z.re)),
                             emit.make<stablehlo::SineOp>(z.im));
  im = emit.mul(im, withSignOf(emit, emit.splat(1, tensorOf(im)), z.re));
  return join(emit, {hyperbolicTimes(emit, z.re, chlo::cosh(emit, z.re),
                                     emit.make<stablehlo::CosineOp>(z.im)),
                     im});
}

/// (x - y)(x + y) + 2 i x y
Value square(TensorBuilder &emit, Value operand) {
  Parts z = partsOf(emit, operand);
  Value re = emit.mul(emit.sub(z.re, z.im), emit.add(z.re, z.im));
  Value product = emit.mul(z.re, z.im);
  // Where the sum overflows and the difference is 0.
  Value isNull =
      both(emit, emit.compare(Direction::EQ, emit.abs(z.re), emit.abs(z.im)),
           emit.compare(Direction::LE, emit.abs(z.re), largestOf(z.re)));
  re = emit.select(isNull, emit.splat(0, tensorOf(re)), re);
  return join(emit, {re, emit.add(product, product)});
}

} // namespace sinter::chlo::complex
