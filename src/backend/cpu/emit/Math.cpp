//===- Math.cpp - elementary functions in vectorisable arithmetic ---------===//
//
// The reductions of the argument and the minimax coefficients of exp, log, tanh
// and erf near zero are those of S. Moshier's Cephes library (single
// precision).
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Math.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include <bit>
#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Arithmetic on values of the type of one argument, f32 or vectors of it.
class Writer {
public:
  Writer(KernelBuilder &code, Value like)
      : e(code), floatType(like.getType()),
        intType(withElement(e.builder.getI32Type())) {}

  Value number(float value) {
    return constant(floatType, e.builder.getF32FloatAttr(value));
  }
  Value integer(int32_t value) {
    return constant(intType, e.builder.getI32IntegerAttr(value));
  }
  Value add(Value a, Value b) { return arithmetic<arith::AddFOp>(a, b); }
  Value add(Value a, float b) { return add(a, number(b)); }
  Value sub(Value a, Value b) { return arithmetic<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return arithmetic<arith::MulFOp>(a, b); }
  Value mul(Value a, float b) { return mul(a, number(b)); }
  Value div(Value a, Value b) { return e.create<arith::DivFOp>(a, b); }
  /// Sums that must be rounded as they stand.
  Value exactAdd(Value a, Value b) { return e.create<arith::AddFOp>(a, b); }
  Value exactSub(Value a, Value b) { return e.create<arith::SubFOp>(a, b); }
  /// a * b + c of vectors, rounded once.
  Value fma(Value a, Value b, Value c) {
    return e.create<vector::FMAOp>(a, b, c);
  }
  Value abs(Value a) { return e.create<math::AbsFOp>(a); }
  Value copySign(Value magnitude, Value sign) {
    return e.create<math::CopySignOp>(magnitude, sign);
  }

  /// Ordered: false where either is NaN.
  Value less(Value a, float b) {
    return e.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, number(b));
  }
  Value greater(Value a, float b) {
    return e.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, a, number(b));
  }
  Value equal(Value a, float b) {
    return e.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, number(b));
  }
  Value select(Value condition, Value a, Value b) {
    return e.create<arith::SelectOp>(condition, a, b);
  }

  Value bits(Value a) { return e.create<arith::BitcastOp>(intType, a); }
  Value fromBits(Value a) { return e.create<arith::BitcastOp>(floatType, a); }
  Value addInt(Value a, Value b) { return e.create<arith::AddIOp>(a, b); }
  Value subInt(Value a, Value b) { return e.create<arith::SubIOp>(a, b); }
  Value andInt(Value a, int32_t b) {
    return e.create<arith::AndIOp>(a, integer(b));
  }
  Value orInt(Value a, int32_t b) {
    return e.create<arith::OrIOp>(a, integer(b));
  }
  Value shiftLeft(Value a, int32_t b) {
    return e.create<arith::ShLIOp>(a, integer(b));
  }
  Value shiftRight(Value a, int32_t b) {
    return e.create<arith::ShRSIOp>(a, integer(b));
  }
  Value toFloat(Value a) { return e.create<arith::SIToFPOp>(floatType, a); }

  /// Horner's scheme, highest power first.
  Value polynomial(Value x, std::initializer_list<float> coefficients) {
    Value sum;
    for (float c : coefficients)
      sum = sum ? add(mul(sum, x), c) : number(c);
    return sum;
  }

  /// Whether there is one instruction for each of the two below.
  bool isWhole() const {
    auto vector = dyn_cast<VectorType>(floatType);
    return e.hasAvx512 && vector && vector.getNumElements() == 16;
  }
  /// a * 2^floor(b), rounded once; isWhole().
  Value scale(Value a, Value b) {
    return call("llvm.x86.avx512.mask.scalef.ps.512",
                {a, b, number(0), allLanes(), currentRounding()});
  }
  /// 1 / a with an error of 2^-14 at most, exact for powers of two; isWhole().
  Value estimateReciprocal(Value a) {
    return call("llvm.x86.avx512.rcp14.ps.512", {a, number(0), allLanes()});
  }

  KernelBuilder &e;

private:
  Value call(const char *intrinsic, ValueRange arguments) {
    return e.create<LLVM::CallIntrinsicOp>(
        floatType, e.builder.getStringAttr(intrinsic), arguments);
  }
  Value allLanes() {
    return e.create<arith::ConstantOp>(e.builder.getI16IntegerAttr(-1));
  }
  Value currentRounding() {
    return e.create<LLVM::ConstantOp>(e.builder.getI32Type(),
                                      e.builder.getI32IntegerAttr(4));
  }
  Type withElement(Type element) {
    auto vector = dyn_cast<VectorType>(floatType);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(Type type, TypedAttr scalar) {
    auto vector = dyn_cast<VectorType>(type);
    return e.create<arith::ConstantOp>(
        vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar)))
               : scalar);
  }
  /// May be fused with its neighbour into one rounding.
  template <typename Op> Value arithmetic(Value a, Value b) {
    return e.create<Op>(a, b, arith::FastMathFlags::contract);
  }

  Type floatType, intType;
};

} // namespace

/// 2^x for |x| <= 1/2 (minimax, relative error 1.5e-8).
static Value powerOfFraction(Writer &w, Value x) {
  return w.polynomial(x, {1.534581243e-4f, 1.339993090e-3f, 9.618489072e-3f,
                          5.550328642e-2f, 2.402264625e-1f, 6.931471825e-1f,
                          1.0f});
}

/// Of a whole vector: e^x = 2^n * 2^t with n + t = x log2(e), the product taken
/// in two parts, and one instruction for 2^n that overflows and underflows as
/// the result does.
static Value wholeExp(Writer &w, Value x) {
  // Beyond, the result is 0 or infinite; NaN stays.
  Value clamped = w.select(w.greater(x, 89.0f), w.number(89.0f), x);
  clamped = w.select(w.less(clamped, -104.0f), w.number(-104.0f), clamped);
  const float magic = 12582912.0f, logE = 1.44269502f,
              restOfLogE = 1.92596299e-8f;
  Value shifted = w.fma(clamped, w.number(logE), w.number(magic));
  Value n = w.exactSub(shifted, w.number(magic));
  Value t = w.fma(clamped, w.number(logE), w.mul(n, -1.0f));
  t = w.fma(clamped, w.number(restOfLogE), t);
  return w.scale(powerOfFraction(w, t), n);
}

/// e^x = 2^n * e^r with |r| <= ln(2) / 2; 2^n in two factors so that neither
/// overflows where the product does not.
Value cpu::emitExp(KernelBuilder &code, Value x) {
  Writer w(code, x);
  if (w.isWhole())
    return wholeExp(w, x);
  Value clamped = w.select(w.greater(x, 89.0f), w.number(89.0f), x);
  // What is 0 is not computed, as what masks leave behind often is: products
  // that underflow take a hundred cycles.
  Value isNothing = w.less(x, -104.0f);
  clamped = w.select(isNothing, w.number(0.0f), clamped);
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  const float magic = 12582912.0f;
  Value shifted = w.exactAdd(
      w.e.create<arith::MulFOp>(clamped, w.number(1.44269504088896341f)),
      w.number(magic));
  Value n = w.exactSub(shifted, w.number(magic));
  Value r = w.add(w.mul(n, -0.693359375f), clamped);
  r = w.add(w.mul(n, 2.12194440e-4f), r);
  Value p =
      w.polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                       4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  Value power = w.add(w.add(w.mul(p, w.mul(r, r)), r), 1.0f);

  Value exponent =
      w.subInt(w.bits(shifted), w.integer(std::bit_cast<int32_t>(magic)));
  Value half = w.shiftRight(exponent, 1);
  auto powerOfTwo = [&](Value i) {
    return w.fromBits(w.shiftLeft(w.addInt(i, w.integer(127)), 23));
  };
  Value first = w.e.create<arith::MulFOp>(power, powerOfTwo(half));
  Value result =
      w.e.create<arith::MulFOp>(first, powerOfTwo(w.subInt(exponent, half)));
  return w.select(isNothing, w.number(0.0f), result);
}

/// Taylor's series up to x^9 / 9! where |x| < 0.5; e^x - 1 loses less than a
/// bit elsewhere.
Value cpu::emitExpm1(KernelBuilder &code, Value x) {
  Writer w(code, x);
  Value far = w.add(emitExp(code, x), -1.0f);
  Value p = w.polynomial(x, {2.75573192e-6f, 2.48015873e-5f, 1.98412698e-4f,
                             1.38888889e-3f, 8.33333333e-3f, 4.16666667e-2f,
                             1.66666667e-1f, 0.5f});
  Value near = w.add(w.mul(p, w.mul(x, x)), x);
  near = w.select(w.equal(x, 0.0f), x, near);
  return w.select(w.less(w.abs(x), 0.5f), near, far);
}

/// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log(m) by a polynomial in m - 1.
Value cpu::emitLog(KernelBuilder &code, Value x) {
  Writer w(code, x);
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
  Writer w(code, x);
  Value u = w.exactAdd(x, w.number(1.0f));
  Value rounded = w.exactSub(u, w.number(1.0f));
  Value isTiny = w.equal(rounded, 0.0f);
  Value divisor = w.select(isTiny, w.number(1.0f), rounded);
  Value log = emitLog(code, u);
  Value corrected = w.e.create<arith::MulFOp>(log, w.div(x, divisor));
  Value result = w.select(isTiny, x, corrected);
  return w.select(w.equal(x, infinity), x, result);
}

/// x + x^3 P(x^2) for small |x|, 1 - 2 / (e^2|x| + 1) with x's sign elsewhere.
Value cpu::emitTanh(KernelBuilder &code, Value x) {
  Writer w(code, x);
  Value magnitude = w.abs(x);
  Value square = w.mul(x, x);
  Value p = w.polynomial(square, {-5.70498872745e-3f, 2.06390887954e-2f,
                                  -5.37397155531e-2f, 1.33314422036e-1f,
                                  -3.33332819422e-1f});
  Value near = w.add(w.mul(w.mul(p, square), x), x);
  near = w.select(w.equal(x, 0.0f), x, near);
  Value power = emitExp(code, w.add(magnitude, magnitude));
  Value far = w.sub(w.number(1.0f), w.div(w.number(2.0f), w.add(power, 1.0f)));
  return w.select(w.less(magnitude, 0.625f), near, w.copySign(far, x));
}

/// erf(x) = x + x P(x^2) for |x| < 1.
static Value erfNearZero(Writer &w, Value x) {
  Value p =
      w.polynomial(w.mul(x, x), {7.853861353153693e-5f, -8.010193625184903e-4f,
                                 5.188327685732524e-3f, -2.685381193529856e-2f,
                                 1.128358514861418e-1f, -3.761262582423300e-1f,
                                 1.283791667095513e-1f});
  return w.add(w.mul(x, p), x);
}

/// 2^x for -100 < x < 100: by a minimax polynomial between -1/2 and 1/2.
static Value powerOfTwo(Writer &w, Value x) {
  const float magic = 12582912.0f;
  Value shifted = w.exactAdd(x, w.number(magic));
  Value rest = w.exactSub(x, w.exactSub(shifted, w.number(magic)));
  Value power = powerOfFraction(w, rest);
  Value exponent =
      w.subInt(w.bits(shifted), w.integer(std::bit_cast<int32_t>(magic) - 127));
  return w.mul(power, w.fromBits(w.shiftLeft(exponent, 23)));
}

/// 1 - 2^P(|x|) with x's sign for |x| >= 1, P being log2(erfc) up to where
/// that is less than half of the last digit (minimax in the error of erf).
Value cpu::emitErf(KernelBuilder &code, Value x) {
  Writer w(code, x);
  Value magnitude = w.abs(x);
  Value near = erfNearZero(w, x);
  const float isOne = 3.95f;
  Value a = w.select(w.greater(magnitude, isOne), w.number(isOne), magnitude);
  Value log = w.polynomial(
      a, {2.677267184e-4f, -4.240957089e-3f, 3.145842627e-2f, -1.486514956e-1f,
          -9.207650423e-1f, -1.625975013e+0f, -5.103091244e-4f});
  Value far = w.sub(w.number(1.0f), powerOfTwo(w, log));
  return w.select(w.less(magnitude, 1.0f), near, w.copySign(far, x));
}

/// 1 - erf(x) for |x| < 1 / 2; e^(-x^2) P(t) / (1 + 2x), t = (x - 3.75) /
/// (x + 3.75), for greater x, and 2 less that for -x. P interpolates in the
/// nodes of a Chebyshev polynomial (Shepherd and Laframboise, Math. Comp. 36,
/// 1981). x^2 is taken in two parts, of which the first has no rounding error.
Value cpu::emitErfc(KernelBuilder &code, Value x) {
  Writer w(code, x);
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
Value cpu::emitLogistic(KernelBuilder &code, Value x) {
  Writer w(code, x);
  Value power = emitExp(code, w.mul(w.abs(x), -1.0f));
  Value numerator = w.select(w.less(x, 0.0f), power, w.number(1.0f));
  Value divisor = w.add(power, 1.0f);
  if (!w.isWhole())
    return w.div(numerator, divisor);
  // The divisor is from 1 to 2: an estimate and one step of Newton's method are
  // as good as a division, which would take as long as all the rest.
  Value estimate = w.estimateReciprocal(divisor);
  Value error = w.fma(w.mul(divisor, -1.0f), estimate, w.number(1.0f));
  return w.mul(numerator, w.fma(estimate, error, estimate));
}
