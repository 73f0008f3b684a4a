//===- MathWriter.h - what elementary functions consist of ----------------===//
//
// Powers of two come from adding 1.5 * 2^23 (of f64, 2^52): that rounds to an
// integer n and leaves it in the low bits, from where a shift puts it into an
// exponent.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_MATHWRITER_H
#define SINTER_BACKEND_CPU_EMIT_MATHWRITER_H

#include "backend/cpu/kernels/common/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

namespace sinter::cpu {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Arithmetic on values of the type of one argument: f32, f64 or vectors of
/// them.
class MathWriter {
public:
  MathWriter(KernelBuilder &code, mlir::Value like)
      : e(code), floatType(like.getType()),
        isDouble(getElementTypeOrSelf(floatType).isF64()),
        intType(withElement(e.builder.getIntegerType(isDouble ? 64 : 32))) {}

  mlir::Value number(double value) {
    return constant(floatType, e.builder.getFloatAttr(
                                   getElementTypeOrSelf(floatType), value));
  }
  mlir::Value integer(int64_t value) {
    return constant(intType, e.builder.getIntegerAttr(
                                 getElementTypeOrSelf(intType), value));
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return arithmetic<mlir::arith::AddFOp>(a, b);
  }
  mlir::Value add(mlir::Value a, double b) { return add(a, number(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return arithmetic<mlir::arith::SubFOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return arithmetic<mlir::arith::MulFOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, number(b)); }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::DivFOp>(a, b);
  }
  /// What must be rounded as it stands.
  mlir::Value exactMul(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::MulFOp>(a, b);
  }
  mlir::Value exactMul(mlir::Value a, double b) {
    return exactMul(a, number(b));
  }
  mlir::Value exactAdd(mlir::Value a, double b) {
    return exactAdd(a, number(b));
  }
  mlir::Value exactAdd(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::AddFOp>(a, b);
  }
  mlir::Value exactSub(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::SubFOp>(a, b);
  }
  /// a * b + c, rounded once where the machine can.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    if (e.hasFma)
      return e.create<mlir::math::FmaOp>(a, b, c);
    return exactAdd(exactMul(a, b), c);
  }
  mlir::Value fma(mlir::Value a, double b, mlir::Value c) {
    return fma(a, number(b), c);
  }
  mlir::Value sqrt(mlir::Value a) { return e.create<mlir::math::SqrtOp>(a); }
  mlir::Value abs(mlir::Value a) { return e.create<mlir::math::AbsFOp>(a); }
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign) {
    return e.create<mlir::math::CopySignOp>(magnitude, sign);
  }

  /// Ordered: false where either is NaN.
  mlir::Value less(mlir::Value a, double b) {
    return e.create<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OLT, a,
                                         number(b));
  }
  mlir::Value greater(mlir::Value a, double b) {
    return e.create<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OGT, a,
                                         number(b));
  }
  mlir::Value equal(mlir::Value a, double b) {
    return e.create<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OEQ, a,
                                         number(b));
  }
  mlir::Value same(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::AndIOp>(a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::SelectOp>(condition, a, b);
  }

  mlir::Value bits(mlir::Value a) {
    return e.create<mlir::arith::BitcastOp>(intType, a);
  }
  mlir::Value fromBits(mlir::Value a) {
    return e.create<mlir::arith::BitcastOp>(floatType, a);
  }
  mlir::Value addInt(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::AddIOp>(a, b);
  }
  mlir::Value subInt(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::SubIOp>(a, b);
  }
  mlir::Value andInt(mlir::Value a, int64_t b) {
    return e.create<mlir::arith::AndIOp>(a, integer(b));
  }
  mlir::Value xorInt(mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::XOrIOp>(a, b);
  }
  /// Minus \p a where the last bit of \p count is 1.
  mlir::Value negatedIfOdd(mlir::Value a, mlir::Value count) {
    return fromBits(xorInt(bits(a), shiftLeft(count, isDouble ? 63 : 31)));
  }
  mlir::Value orInt(mlir::Value a, int64_t b) {
    return e.create<mlir::arith::OrIOp>(a, integer(b));
  }
  mlir::Value shiftLeft(mlir::Value a, int64_t b) {
    return e.create<mlir::arith::ShLIOp>(a, integer(b));
  }
  mlir::Value shiftRight(mlir::Value a, int64_t b) {
    return e.create<mlir::arith::ShRSIOp>(a, integer(b));
  }
  mlir::Value shiftInZeros(mlir::Value a, int64_t b) {
    return e.create<mlir::arith::ShRUIOp>(a, integer(b));
  }
  /// Whether the last bit of \p a is 1.
  mlir::Value endsInOne(mlir::Value a) {
    return e.create<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne,
                                         andInt(a, 1), integer(0));
  }
  /// The low bits of \p a, integers of any width from this one's on.
  mlir::Value lowBits(mlir::Value a) {
    return a.getType() == intType ? a
                                  : e.create<mlir::arith::TruncIOp>(intType, a);
  }
  mlir::Value toFloat(mlir::Value a) {
    return e.create<mlir::arith::SIToFPOp>(floatType, a);
  }

  /// f32 as f64, and back.
  mlir::Value widened(mlir::Value a) {
    return e.create<mlir::arith::ExtFOp>(withElement(e.builder.getF64Type()),
                                         a);
  }
  mlir::Value narrowed(mlir::Value a) {
    return e.create<mlir::arith::TruncFOp>(floatType, a);
  }

  /// Coefficients from the highest power on. By Horner's scheme, but those of
  /// all powers of x in pairs where they are many: fewer steps wait for each
  /// other. The last, to which the rest is small, is added as it stands.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) {
    constexpr size_t many = 4;
    mlir::Value rest;
    if (coefficients.size() > many) {
      llvm::ArrayRef<double> inPairs = coefficients.drop_back();
      const bool isOdd = inPairs.size() % 2;
      if (isOdd)
        rest = number(inPairs[0]);
      mlir::Value square = exactMul(x, x);
      for (size_t i = isOdd; i < inPairs.size(); i += 2) {
        mlir::Value pair = fma(number(inPairs[i]), x, number(inPairs[i + 1]));
        rest = rest ? fma(rest, square, pair) : pair;
      }
      coefficients = coefficients.take_back();
    }
    for (double c : coefficients)
      rest = rest ? fma(rest, x, number(c)) : number(c);
    return rest;
  }

  /// x, but at most and at least so much; NaN stays.
  mlir::Value atMost(mlir::Value x, double most) {
    return select(greater(x, most), number(most), x);
  }
  mlir::Value atLeast(mlir::Value x, double least) {
    return select(less(x, least), number(least), x);
  }

  /// A number rounded to an integer: as it is, and in the low bits of a float.
  struct Whole {
    mlir::Value number, bits;
  };
  /// |a * b| up to 2^22, of f64 2^51.
  Whole round(mlir::Value a, double b) {
    mlir::Value shifted = fma(a, b, number(shift()));
    return {exactSub(shifted, number(shift())), this->bits(shifted)};
  }
  Whole round(mlir::Value a) {
    mlir::Value shifted = exactAdd(a, shift());
    return {exactSub(shifted, number(shift())), this->bits(shifted)};
  }
  /// 2^(n + more), a normal number.
  mlir::Value power(Whole n, int64_t more = 0) {
    const int64_t digits = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
    return fromBits(
        addInt(shiftLeft(n.bits, digits), integer((bias + more) << digits)));
  }
  /// a * 2^n, rounded once, for a from 1/2 to 2 and n from -150 to 128.
  mlir::Value scale(mlir::Value a, Whole n) {
    if (isWhole())
      return call("llvm.x86.avx512.mask.scalef.ps.512",
                  {a, n.number, number(0), allLanes(), currentRounding()});
    // In two factors, so that neither overflows where the product does not.
    mlir::Value half = shiftRight(n.bits, 1);
    mlir::Value first = exactMul(a, power({mlir::Value(), half}));
    return exactMul(first, power({mlir::Value(), subInt(n.bits, half)}));
  }
  /// The same for n <= 0.
  mlir::Value scaleDown(mlir::Value a, Whole n) {
    if (isWhole())
      return scale(a, n);
    const int32_t kept = 32;
    return exactMul(exactMul(a, power(n, kept)), std::ldexp(1.0f, -kept));
  }
  /// a / b for b from 2^-60 to 2^60.
  mlir::Value quotient(mlir::Value a, mlir::Value b) {
    if (!isWhole() || !e.dividesSlowly)
      return div(a, b);
    // This one rounds like the machine's, except where b is just below a power
    // of two: of an estimate (error 2^-14), one step of Newton's method makes
    // the reciprocal, and the remainder corrects the quotient (P. Markstein,
    // IBM J. Res. Dev. 34, 1990).
    mlir::Value estimate =
        call("llvm.x86.avx512.rcp14.ps.512", {b, number(0), allLanes()});
    mlir::Value minus = exactMul(b, -1.0f);
    mlir::Value reciprocal =
        fma(fma(minus, estimate, number(1)), estimate, estimate);
    mlir::Value near = exactMul(a, reciprocal);
    return fma(fma(minus, near, a), reciprocal, near);
  }

  KernelBuilder &e;

private:
  /// 1.5 times the least number that has no fraction.
  double shift() const { return isDouble ? 0x1.8p52 : 0x1.8p23; }

  /// Whether AVX-512's instructions on 16 lanes fit.
  bool isWhole() const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(floatType);
    return e.hasAvx512 && !isDouble && vector && vector.getNumElements() == 16;
  }
  mlir::Value call(const char *intrinsic, mlir::ValueRange arguments) {
    return e.create<mlir::LLVM::CallIntrinsicOp>(
        floatType, e.builder.getStringAttr(intrinsic), arguments);
  }
  mlir::Value allLanes() {
    return e.create<mlir::arith::ConstantOp>(e.builder.getI16IntegerAttr(-1));
  }
  mlir::Value currentRounding() {
    return e.create<mlir::LLVM::ConstantOp>(e.builder.getI32Type(),
                                            e.builder.getI32IntegerAttr(4));
  }
  mlir::Type withElement(mlir::Type element) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(floatType);
    return vector ? mlir::Type(vector.clone(element)) : element;
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr scalar) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    return e.create<mlir::arith::ConstantOp>(
        vector ? mlir::TypedAttr(mlir::DenseElementsAttr::get(
                     vector, mlir::Attribute(scalar)))
               : scalar);
  }
  /// May be fused with its neighbour into one rounding.
  template <typename Op> mlir::Value arithmetic(mlir::Value a, mlir::Value b) {
    return e.create<Op>(a, b, mlir::arith::FastMathFlags::contract);
  }

  const mlir::Type floatType;
  const bool isDouble;
  const mlir::Type intType;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_MATHWRITER_H
