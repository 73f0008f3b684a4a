//===- CircularMath.cpp - circular functions and their inverses -----------===//
//
// Coefficients are minimax in the relative error of the result; those of f32
// are each rounded before the next is chosen.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Math.h"
#include "backend/cpu/emit/MathWriter.h"

#include <array>
#include <numbers>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr double pi = std::numbers::pi;

namespace {

/// An angle: so many quarters of a turn and \p rest in radians, at most a bit
/// more than pi / 4.
struct Turn {
  Value quarters, rest;
};

/// How to reduce numbers of magnitude above \p above, and up to that of the
/// next. Multiplied by a power of two, \p scale, they are up to 2^51 and, but
/// for the first, integers, so that multiples of 4 do not matter in 2 / pi /
/// scale, which the parts have as their sum: two of 28 bits, the products of
/// which with f32 are exact in f64, and one of 53.
struct AngleReduction {
  double above, scale, high, middle, low;
};
constexpr AngleReduction angleReductions[] = {
    {0, 1, 0x1.45f307p-1, -0x1.1b1bbecp-28, 0x1.29fc2757d1f53p-56},
    {0x1p51, 0x1p-27, -0x1.1b1bbe8p-1, -0x1.6b01ec4p-28,
     -0x1.4170565911f92p-56},
    {0x1p77, 0x1p-53, -0x1.5ac07bp+0, -0x1.505c158p-28, -0x1.6447e493ad4cep-56},
    {0x1p103, 0x1p-79, -0x1.505c16p-2, 0x1.a6ee06cp-28, 0x1.b14acc9e21c82p-56}};

} // namespace

/// Of \p x, f32 in f64: no number of f32 is so close to a multiple of pi / 2
/// that digits are missing (Payne and Hanek, SIGNUM Newsletter 18, 1983).
static Turn turnOf(MathWriter &w, Value x) {
  auto partsOf = [&](const AngleReduction &r) {
    return std::array{w.number(r.scale), w.number(r.high), w.number(r.middle),
                      w.number(r.low)};
  };
  auto parts = partsOf(angleReductions[0]);
  Value magnitude = w.abs(x);
  for (const AngleReduction &r : ArrayRef(angleReductions).drop_front()) {
    Value isAbove = w.greater(magnitude, r.above);
    for (auto [part, other] : llvm::zip_equal(parts, partsOf(r)))
      part = w.select(isAbove, other, part);
  }
  Value scaled = w.exactMul(x, parts[0]);
  // What is beyond whole quarters is exact.
  Value highProduct = w.exactMul(scaled, parts[1]);
  Value middleProduct = w.exactMul(scaled, parts[2]);
  MathWriter::Whole high = w.round(highProduct);
  MathWriter::Whole middle = w.round(middleProduct);
  Value sum = w.exactAdd(w.exactSub(highProduct, high.number),
                         w.exactSub(middleProduct, middle.number));
  MathWriter::Whole last = w.round(sum);
  Value rest = w.fma(scaled, parts[3], w.exactSub(sum, last.number));
  return {w.addInt(w.addInt(high.bits, middle.bits), last.bits),
          w.exactMul(rest, pi / 2)};
}

/// The sine of the angle \p x and \p ahead quarters of a turn. In f32 as soon
/// as the angle is small.
static Value sineOf(MathWriter &w, Value x, int64_t ahead) {
  Value wide = w.widened(x);
  MathWriter f64(w.e, wide);
  Turn turn = turnOf(f64, wide);
  Value quarters = w.addInt(w.lowBits(turn.quarters), w.integer(ahead));
  Value r = w.narrowed(turn.rest), square = w.exactMul(r, r);
  Value sine = w.polynomial(
      square, {-1.949504804e-4f, 8.33201129e-3f, -1.666665226e-1f});
  sine = w.fma(w.exactMul(r, square), sine, r);
  Value cosine =
      w.polynomial(square, {2.44112216e-5f, -1.388712553e-3f, 4.166664183e-2f});
  cosine = w.fma(w.exactMul(square, square), cosine,
                 w.fma(square, -0.5, w.number(1)));
  Value result = w.select(w.endsInOne(quarters), cosine, sine);
  return w.negatedIfOdd(result, w.shiftRight(quarters, 1));
}

Value cpu::emitSin(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  // Zeros keep their sign.
  return w.select(w.equal(x, 0), x, sineOf(w, x, 0));
}

Value cpu::emitCos(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  return sineOf(w, x, 1);
}

/// sin(r) / cos(r) or, a quarter of a turn ahead, -cos(r) / sin(r).
Value cpu::emitTan(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value wide = w.widened(x);
  MathWriter f64(code, wide);
  auto [quarters, r] = turnOf(f64, wide);
  Value square = f64.exactMul(r, r);
  Value sine =
      f64.polynomial(square, {2.7157319176213523e-6, -1.9839054792634207e-4,
                              8.3333284825614438e-3, -1.6666666633509921e-1});
  sine = f64.fma(f64.exactMul(r, square), sine, r);
  Value cosine =
      f64.polynomial(square, {-2.7183183174942483e-7, 2.4799177159738941e-5,
                              -1.3888882386037861e-3, 4.1666666606011426e-2});
  cosine = f64.fma(f64.exactMul(square, square), cosine,
                   f64.fma(square, -0.5, f64.number(1)));
  Value isOdd = f64.endsInOne(quarters);
  Value quotient =
      f64.div(f64.select(isOdd, cosine, sine), f64.select(isOdd, sine, cosine));
  Value result = w.negatedIfOdd(w.narrowed(quotient), w.lowBits(quarters));
  return w.select(w.equal(x, 0), x, result);
}

/// \p whole, which is known to more digits than f32 has, without \p angle.
static Value restOf(MathWriter &w, double whole, Value angle) {
  const float high = static_cast<float>(whole);
  return w.exactAdd(w.exactSub(w.number(high), angle), whole - high);
}

/// atan(q) = q + q^3 P(q^2) for 0 <= q <= 1.
static Value angleOfRatio(MathWriter &w, Value q) {
  Value square = w.exactMul(q, q);
  Value p = w.polynomial(square,
                         {-1.782383537e-3f, 1.086727064e-2f, -3.109522536e-2f,
                          5.788034573e-2f, -8.39927718e-2f, 1.095087752e-1f,
                          -1.426401585e-1f, 1.999852955e-1f, -3.333329856e-1f});
  return w.fma(w.exactMul(q, square), p, q);
}

Value cpu::emitAtan(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value magnitude = w.abs(x), isSteep = w.greater(magnitude, 1);
  Value ratio = w.select(isSteep, w.div(w.number(1), magnitude), magnitude);
  Value angle = angleOfRatio(w, ratio);
  return w.copySign(w.select(isSteep, restOf(w, pi / 2, angle), angle), x);
}

/// In f64: functions of complex numbers consist of it, and errors add up.
Value cpu::emitAtan2(KernelBuilder &code, Value y, Value x) {
  MathWriter w(code, x);
  Value a = w.widened(w.abs(x)), b = w.widened(w.abs(y));
  MathWriter f64(code, a);
  Value isSteep = code.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, b, a);
  Value most = f64.select(isSteep, b, a), least = f64.select(isSteep, a, b);
  Value ratio = f64.div(least, most);
  // Of two infinities, and of two zeros. NaN stays.
  ratio = f64.select(f64.same(least, most), f64.number(1), ratio);
  ratio = f64.select(f64.equal(most, 0), least, ratio);
  Value angle = angleOfRatio(f64, ratio);
  angle = f64.select(isSteep, restOf(f64, pi / 2, angle), angle);
  Value isBehind = code.create<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                              w.bits(x), w.integer(0));
  angle = f64.select(isBehind, restOf(f64, pi, angle), angle);
  return w.copySign(w.narrowed(angle), y);
}

namespace {

/// asin(|x|) where |x| <= 1 / 2; else half of acos(|x|).
struct ArcSine {
  Value isLarge, angle;
};

} // namespace

/// asin(s) = s + s^3 P(s^2) for s up to 1 / 2; acos(|x|) = 2 asin(s) with
/// s^2 = (1 - |x|) / 2.
static ArcSine arcSineOf(MathWriter &w, Value x) {
  Value magnitude = w.abs(x), isLarge = w.greater(magnitude, 0.5);
  Value half = w.exactMul(w.exactSub(w.number(1), magnitude), 0.5);
  Value square = w.select(isLarge, half, w.exactMul(magnitude, magnitude));
  Value s = w.select(isLarge, w.sqrt(half), magnitude);
  Value p =
      w.polynomial(square, {4.21583876e-2f, 2.418474294e-2f, 4.546915367e-2f,
                            7.495309412e-2f, 1.66667521e-1f});
  return {isLarge, w.fma(w.exactMul(s, square), p, s)};
}

Value cpu::emitAsin(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  auto [isLarge, angle] = arcSineOf(w, x);
  Value large = restOf(w, pi / 2, w.exactAdd(angle, angle));
  return w.copySign(w.select(isLarge, large, angle), x);
}

Value cpu::emitAcos(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  auto [isLarge, angle] = arcSineOf(w, x);
  Value twice = w.exactAdd(angle, angle);
  Value large = w.select(w.less(x, 0), restOf(w, pi, twice), twice);
  Value small = restOf(w, pi / 2, w.copySign(angle, x));
  return w.select(isLarge, large, small);
}
