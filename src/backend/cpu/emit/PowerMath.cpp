//===- PowerMath.cpp - powers, cubic roots and remainders -----------------===//
//
// Of f32 in f64. Coefficients are minimax in the relative error of the result.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Math.h"
#include "backend/cpu/emit/MathWriter.h"

#include <bit>
#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The base-2 logarithm, to 35 bits, of f32 in f64, no denormal of which is one
/// here: x = 2^e * m with m in [sqrt(1/2), sqrt(2)).
static Value logarithm(MathWriter &w, Value x) {
  const int64_t digits = 52, root = 0x3fe6a09e667f3bcd;
  Value beyond = w.subInt(w.bits(x), w.integer(root));
  Value exponent = w.andInt(beyond, ~((int64_t(1) << digits) - 1));
  Value m = w.fromBits(w.subInt(w.bits(x), exponent));
  // As the last bits of 2^52 + 2^11 + e: most machines cannot convert vectors
  // of 64-bit integers.
  const double base = 0x1p52, least = 0x1p11;
  Value raised = w.addInt(exponent, w.integer(int64_t(least) << digits));
  Value bits =
      w.orInt(w.shiftInZeros(raised, digits), std::bit_cast<int64_t>(base));
  Value e = w.exactAdd(w.fromBits(bits), -(base + least));
  Value f = w.exactAdd(m, -1);
  Value p = w.polynomial(
      f, {0.077368070748814863, -0.14283769702177629, 0.14474881161538017,
          -0.14315688059679708, 0.15876979433116245, -0.180300559892803,
          0.20617535821365259, -0.24045316753937114, 0.28853729354117094,
          -0.36067367478502972, 0.48089836139426548, -0.72134752086909412,
          1.4426950408687129});
  Value result = w.fma(f, p, e);
  result = w.select(w.equal(x, 0), w.number(-infinity), result);
  return w.select(w.less(x, infinity), result, x);
}

/// 2^x, between what f32 takes for 0 and for infinite.
static Value powerOfTwo(MathWriter &w, Value x) {
  Value cut = w.atLeast(w.atMost(x, 200), -200);
  MathWriter::Whole n = w.round(cut);
  Value p = w.polynomial(w.exactSub(cut, n.number),
                         {0.00015345789023112974, 0.0013399930860573837,
                          0.0096184890475631574, 0.055503287783850099,
                          0.24022646889789743, 0.69314720573620582,
                          1.0000000005542559});
  return w.exactMul(p, w.power(n));
}

/// 2^(y log2 |x|), negative for a negative x and odd y (IEEE 754-2019, 9.2).
Value cpu::emitPow(KernelBuilder &code, Value x, Value y) {
  MathWriter w(code, x);
  Value wideX = w.widened(x), wideY = w.widened(y);
  MathWriter f64(code, wideX);
  Value log = logarithm(f64, f64.abs(wideX));
  // 1 to the power of an infinity is 1.
  Value product =
      f64.select(f64.equal(log, 0), f64.number(0), f64.exactMul(wideY, log));
  Value magnitude = w.narrowed(powerOfTwo(f64, product));

  // Greater numbers are even.
  const double greatestOdd = 0x1p24;
  Value cut = f64.atLeast(f64.atMost(wideY, greatestOdd), -greatestOdd);
  MathWriter::Whole n = f64.round(cut);
  Value isWhole = f64.same(n.number, cut);
  Value isOdd = w.lowBits(n.bits);
  Value isNegative = w.shiftInZeros(w.bits(x), 31);
  Value ofWhole =
      w.negatedIfOdd(magnitude, code.create<arith::AndIOp>(isOdd, isNegative));
  // Asked of the logarithm, which is finite for no zero: LLVM would make of a
  // number that is not zero one with other bits, and denormals may be zero.
  Value isFinite = f64.less(f64.abs(log), infinity);
  Value hasNone = w.both(w.less(x, 0), isFinite);
  Value ofOther = w.select(
      hasNone, w.number(std::numeric_limits<double>::quiet_NaN()), magnitude);
  Value result = w.select(isWhole, ofWhole, ofOther);
  return w.select(w.equal(y, 0), w.number(1), result);
}

/// Division by 3 of the exponent, as part of an integer, gives 5 bits of the
/// root (W. Kahan); each of Halley's steps has three times as many.
Value cpu::emitCbrt(KernelBuilder &code, Value x) {
  MathWriter w(code, x);
  Value wide = w.widened(w.abs(x));
  MathWriter f64(code, wide);
  Value high = w.lowBits(f64.shiftInZeros(f64.bits(wide), 32));
  Value third = code.create<arith::DivUIOp>(high, w.integer(3));
  Value estimate = w.addInt(third, w.integer(715094163));
  Value root = f64.fromBits(f64.shiftLeft(
      code.create<arith::ExtUIOp>(f64.bits(wide).getType(), estimate), 32));
  Value twice = f64.exactAdd(wide, wide);
  for (int step = 0; step < 2; ++step) {
    Value cube = f64.exactMul(f64.exactMul(root, root), root);
    Value ratio = f64.div(f64.exactAdd(twice, cube),
                          f64.exactAdd(wide, f64.exactAdd(cube, cube)));
    root = f64.exactMul(root, ratio);
  }
  // Infinities, and zeros if they are not exact already.
  Value isUsual = f64.same(root, root);
  return w.select(isUsual, w.copySign(w.narrowed(root), x), x);
}

/// Multiples of |y| are taken off, those by 2^(bits k) before smaller ones. No
/// step rounds: what is left of |x| is a multiple of the last digit of x or y,
/// and less than about twice the number of which multiples were taken off.
Value cpu::emitRemainder(KernelBuilder &code, Value x, Value y,
                         int quotientBits) {
  MathWriter w(code, x);
  Value rest = w.widened(w.abs(x)), divisor = w.widened(w.abs(y));
  MathWriter f64(code, rest);
  // Any finite number is its own remainder by an infinity, and by this.
  divisor = f64.atMost(divisor, 0x1p200);
  Value inverse = f64.div(f64.number(1), divisor);
  Value negative = f64.exactMul(divisor, -1);
  // As large as quotients by an estimated inverse may be. Without a fused
  // multiply-add, products have to be exact.
  const int bits = code.hasFma ? 48 : 26;
  for (int k = std::max(quotientBits - 1, 0) / bits; k >= 0; --k) {
    const double scale = std::ldexp(1.0, bits * k);
    MathWriter::Whole n =
        f64.round(f64.exactMul(rest, f64.exactMul(inverse, 1 / scale)));
    rest = f64.fma(n.number, f64.exactMul(negative, scale), rest);
  }
  // Quotients were rounded to the nearest integer.
  rest = f64.select(f64.less(rest, 0), f64.exactAdd(rest, divisor), rest);
  return w.copySign(w.narrowed(rest), x);
}
