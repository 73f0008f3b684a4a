//===- Math.cpp - elementary functions in vectorisable arithmetic ---------===//
//
// The reduction of the argument of log and its coefficients, and those of erfc
// near zero, are those of S. Moshier's Cephes library (single precision). Other
// coefficients are minimax in the relative error of the result, each rounded to
// f32 before the next is chosen.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Math.h"

#include "backend/cpu/emit/MathWriter.h"
#include "graph/nn/NnOps.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isFunction(Operation *op) {
  using namespace stablehlo;
  return isa<Atan2Op, CbrtOp, CosineOp, ExpOp, Expm1Op, LogOp, Log1pOp,
             LogisticOp, PowOp, SineOp, TanOp, TanhOp, nn::AcosOp, nn::AsinOp,
             nn::AtanOp, nn::ErfOp, nn::ErfcOp>(op);
}

/// e^x for -104 <= x <= 89 is 2^n * e^r with |r| <= ln(2) / 2.
static Value powerOfRest(MathWriter &w, Value x, MathWriter::Whole n) {
  Value r = w.fma(n.number, -0.693359375f, x);
  r = w.fma(n.number, 2.12194440e-4f, r);
  return w.polynomial(r, {1.382130315e-3f, 8.368669078e-3f, 4.166825861e-2f,
                          1.666652113e-1f, 4.999999404e-1f, 1.0f, 1.0f});
}
/// The same to 18 bits.
static Value shortPowerOfRest(MathWriter &w, Value x, MathWriter::Whole n) {
  Value r = w.fma(n.number, -0.693147182f, x);
  return w.polynomial(r, {4.145858437e-2f, 1.679090708e-1f, 5.000435710e-1f,
                          9.999634027e-1f, 9.999992847e-1f});
}
constexpr float log2OfE = 1.44269504f;
using PowerOfRest = Value(MathWriter &, Value, MathWriter::Whole);

/// Beyond where x is cut, the result is infinite or 0.
static Value exponential(KernelBuilder &code, Value x, PowerOfRest *ofRest) {
  MathWriter w(code, x);
  Value cut = w.atLeast(w.atMost(x, 89.0f), -104.0f);
  MathWriter::Whole n = w.round(cut, log2OfE);
  return w.scale(ofRest(w, cut, n), n);
}

Value cpu::emitExp(KernelBuilder &code, Value x) {
  return exponential(code, x, powerOfRest);
}

Value cpu::emitExpForHalf(KernelBuilder &code, Value x) {
  return exponential(code, x, shortPowerOfRest);
}

/// e^x - 1 = 2^n * (e^r - 1) + (2^n - 1), where e^r - 1 = r Q(r); computed by
/// halves, so that 2^n does not overflow first.
Value cpu::emitExpm1(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value cut = w.atLeast(w.atMost(x, 89.0f), -18.0f);
  MathWriter::Whole n = w.round(cut, log2OfE);
  Value r = w.fma(n.number, -0.693359375f, cut);
  r = w.fma(n.number, 2.12194440e-4f, r);
  Value q = w.polynomial(r, {1.386995777e-3f, 8.366253227e-3f, 4.166744277e-2f,
                             1.666654646e-1f, 4.999999702e-1f, 1.0f});
  Value power = w.power(n, -1);
  Value half = w.fma(power, w.exactMul(r, q), w.exactAdd(power, -0.5f));
  // Zeros keep their sign, and what is tiny does not lose its half.
  return w.select(w.less(w.abs(x), 1e-20f), x, w.exactAdd(half, half));
}

/// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log(m) by a polynomial in m - 1.
Value cpu::emitLog(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  const float leastNormal = 1.17549435e-38f;
  Value isSmall = w.less(x, leastNormal);
  // Denormals are brought up by 2^23.
  Value normal = w.select(isSmall, w.mul(x, 8388608.0f), x);
  Value bits = w.bits(normal);
  // Taken off, the bits of sqrt(1/2) leave the exponent of the wanted range.
  const int32_t root = 0x3f3504f3;
  Value exponent = w.shiftRight(w.subInt(bits, w.integer(root)), 23);
  Value mantissa = w.fromBits(w.subInt(bits, w.shiftLeft(exponent, 23)));
  Value e = w.toFloat(exponent);
  e = w.select(isSmall, w.add(e, -23.0f), e);

  Value m = w.exactAdd(mantissa, w.number(-1.0f));
  Value square = w.mul(m, m);
  Value p =
      w.polynomial(m, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                       -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                       2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  Value y = w.mul(w.mul(p, square), m);
  y = w.add(w.mul(e, -2.12194440e-4f), y);
  y = w.add(w.mul(square, -0.5f), y);
  Value result = w.add(w.mul(e, 0.693359375f), w.add(m, y));

  result = w.select(w.equal(x, infinity), x, result);
  result = w.select(w.equal(x, 0.0f), w.number(-infinity), result);
  Value nan = w.number(std::numeric_limits<float>::quiet_NaN());
  Value isNumber =
      w.e.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, w.number(0.0f));
  return w.select(isNumber, result, nan);
}

/// log(u) * x / (u - 1) with u = 1 + x as rounded: the rounding error of u
/// cancels (W. Kahan).
Value cpu::emitLog1p(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value u = w.exactAdd(x, w.number(1.0f));
  Value rounded = w.exactSub(u, w.number(1.0f));
  Value isTiny = w.equal(rounded, 0.0f);
  Value divisor = w.select(isTiny, w.number(1.0f), rounded);
  Value log = emitLog(code, u);
  Value corrected = w.e.create<arith::MulFOp>(log, w.div(x, divisor));
  Value result = w.select(isTiny, x, corrected);
  return w.select(w.equal(x, infinity), x, result);
}

/// With |x| = n ln(2) / 2 + h and t = tanh(h) = h + h^3 P(h^2), by the sum of
/// arguments: (t (2^n + 1) + (2^n - 1)) / (t (2^n - 1) + (2^n + 1)), which is
/// nothing but t for small |x|, and never above 1.
Value cpu::emitTanh(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value magnitude = w.atMost(w.abs(x), 9.02f);
  MathWriter::Whole n = w.round(magnitude, 2 * log2OfE);
  Value h = w.fma(n.number, -0.346573590f, magnitude);
  Value square = w.exactMul(h, h);
  Value p = w.polynomial(square,
                         {-5.271529779e-2f, 1.333114207e-1f, -3.333332241e-1f});
  Value t = w.fma(w.exactMul(h, square), p, h);
  Value power = w.power(n);
  Value more = w.exactAdd(power, 1.0f), less = w.exactAdd(power, -1.0f);
  Value quotient = w.quotient(w.fma(t, more, less), w.fma(t, less, more));
  return w.copySign(quotient, x);
}

/// 1 - 2^y with |x| P(|x|) for y = log2(erfc(|x|)), and x's sign. 2^y - 1 =
/// 2^n * (2^r - 1) + (2^n - 1), where 2^r - 1 = r Q(r), loses nothing near
/// zero.
Value cpu::emitErf(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  // From there on the result is 1.
  Value magnitude = w.atMost(w.abs(x), 3.95f);
  Value p = w.polynomial(magnitude,
                         {1.292052457e-5f, -1.659940608e-4f, 9.003567975e-4f,
                          -2.383403247e-3f, 2.116017713e-4f, 2.764155157e-2f,
                          -1.482792497e-1f, -9.184474349e-1f, -1.627907038f});
  Value y = w.exactMul(magnitude, p);
  MathWriter::Whole n = w.round(y);
  Value r = w.exactSub(y, n.number);
  Value q =
      w.polynomial(r, {1.538288197e-4f, 1.338739530e-3f, 9.618309326e-3f,
                       5.550367385e-2f, 2.402264923e-1f, 6.931471825e-1f});
  Value power = w.power(n);
  Value result = w.fma(power, w.exactMul(r, q), w.exactAdd(power, -1.0f));
  return w.copySign(result, x);
}

/// x P(x^2) up to where the result is 1 in 11 bits.
Value cpu::emitErfForHalf(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  const float most = 2.65f;
  Value cut = w.atLeast(w.atMost(x, most), -most);
  Value p = w.polynomial(w.exactMul(cut, cut),
                         {9.177914251e-8f, -3.532231176e-6f, 6.139647303e-5f,
                          -6.492271787e-4f, 4.769671708e-3f, -2.627221495e-2f,
                          1.124327108e-1f, -3.760156035e-1f, 1.128373981f});
  return w.exactMul(cut, p);
}

/// erf(x) = x + x P(x^2) for |x| < 1.
static Value erfNearZero(MathWriter &w, Value x) {
  Value p =
      w.polynomial(w.mul(x, x), {7.853861353153693e-5f, -8.010193625184903e-4f,
                                 5.188327685732524e-3f, -2.685381193529856e-2f,
                                 1.128358514861418e-1f, -3.761262582423300e-1f,
                                 1.283791667095513e-1f});
  return w.add(w.mul(x, p), x);
}

/// 1 - erf(x) for |x| < 1 / 2; e^(-x^2) P(t) / (1 + 2x), t = (x - 3.75) /
/// (x + 3.75), for greater x, and 2 less that for -x. P interpolates in the
/// nodes of a Chebyshev polynomial (Shepherd and Laframboise, Math. Comp. 36,
/// 1981). x^2 is taken in two parts, of which the first has no rounding error.
Value cpu::emitErfc(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value magnitude = w.abs(x);
  // The result is 0 from 10.06 on.
  Value a = w.select(w.greater(magnitude, 11.0f), w.number(11.0f), magnitude);
  Value t = w.div(w.exactAdd(a, w.number(-3.75f)), w.add(a, 3.75f));
  Value p = w.polynomial(t, {-2.0821906e-4f, 4.8923928e-4f, 1.8129851e-3f,
                             -9.8299200e-3f, 2.8318350e-2f, -5.8681044e-2f,
                             9.2313045e-2f, -1.0880465e-1f, 8.2276109e-2f,
                             3.5854334e-3f, -1.4024059e-1f, 1.2375126f});
  Value high = w.fromBits(w.andInt(w.bits(a), ~0xfff));
  Value rest =
      w.e.create<arith::MulFOp>(w.exactSub(high, a), w.exactAdd(high, a));
  Value power = emitExp(code, w.mul(w.mul(high, high), -1.0f));
  // e^rest - 1
  Value more = w.polynomial(rest, {1.0f / 24, 1.0f / 6, 0.5f});
  more = w.add(w.mul(w.mul(rest, rest), more), rest);
  Value q = w.div(p, w.add(w.add(a, a), 1.0f));
  Value tail = w.mul(power, w.add(w.mul(q, more), q));
  Value far = w.select(w.less(x, 0.0f), w.sub(w.number(2.0f), tail), tail);
  Value near = w.sub(w.number(1.0f), erfNearZero(w, x));
  return w.select(w.less(magnitude, 0.5f), near, far);
}

/// 1 / (1 + e) or e / (1 + e) with e = e^-|x|, which does not overflow.
static Value logistic(KernelBuilder &code, Value x, PowerOfRest *ofRest) {
  MathWriter w(code, x);
  Value negative =
      w.fromBits(w.orInt(w.bits(x), std::numeric_limits<int>::min()));
  Value cut = w.atLeast(negative, -104.0f);
  MathWriter::Whole n = w.round(cut, log2OfE);
  Value power = w.scaleDown(ofRest(w, cut, n), n);
  Value numerator = w.select(w.less(x, 0.0f), power, w.number(1.0f));
  return w.quotient(numerator, w.exactAdd(power, 1.0f));
}

Value cpu::emitLogistic(KernelBuilder &code, Value x) {
  return logistic(code, x, powerOfRest);
}

Value cpu::emitLogisticForHalf(KernelBuilder &code, Value x) {
  return logistic(code, x, shortPowerOfRest);
}
