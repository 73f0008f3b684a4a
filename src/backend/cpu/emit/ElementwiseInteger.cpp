//===- ElementwiseInteger.cpp - integers, complex numbers, conversions ----===//

#include "backend/cpu/emit/ComplexMath.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/ElementwiseWriter.h"
#include "backend/cpu/kernels/common/SmallFloat.h"
#include "backend/cpu/precision/ExactWidening.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Machines without a division of integer vectors have one of floats, and
/// AVX-512 the conversions. By constants, LLVM multiplies.
bool ElementwiseWriter::dividesFasterInFloats(Value divisor, unsigned width) {
  constexpr unsigned mostInFloats = 32;
  return e.hasAvx512 && width <= mostInFloats &&
         !matchPattern(divisor, m_Constant());
}

/// a / b, toward zero. A quotient of integers of n bits that is no integer is
/// further from the next one than 2^-n of it, so floats of more digits never
/// round it to that.
Value ElementwiseWriter::quotientInFloats(Value a, Value b, bool isUnsigned) {
  Type type = a.getType();
  constexpr unsigned mostInF32 = 16;
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type real = shaped(width > mostInF32 ? Type(e.builder.getF64Type())
                                       : Type(e.builder.getF32Type()));
  auto toFloat = [&](Value x) {
    return isUnsigned ? e.create<arith::UIToFPOp>(real, x)
                      : e.create<arith::SIToFPOp>(real, x);
  };
  Value quotient = e.create<arith::DivFOp>(toFloat(a), toFloat(b));
  return isUnsigned ? e.create<arith::FPToUIOp>(type, quotient)
                    : e.create<arith::FPToSIOp>(type, quotient);
}

/// x / 0 is all ones, x % 0 is x; the least integer / -1 is itself.
Value ElementwiseWriter::integerDivision(Value a, Value b, bool isUnsigned,
                                         bool remainder) {
  Type type = a.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value one = integer(type, APInt(width, 1));
  Value byZero = compareIntegers(CmpIPredicate::eq, b, integer(type, 0));
  Value unsafe = byZero;
  if (!isUnsigned) {
    Value least = integer(type, APInt::getSignedMinValue(width));
    Value overflow = e.create<arith::AndIOp>(
        compareIntegers(CmpIPredicate::eq, a, least),
        compareIntegers(CmpIPredicate::eq, b, integer(type, -1)));
    unsafe = e.create<arith::OrIOp>(unsafe, overflow);
  }
  Value divisor = select(unsafe, one, b);
  Value quotient;
  if (dividesFasterInFloats(b, width))
    quotient = quotientInFloats(a, divisor, isUnsigned);
  else if (!remainder)
    quotient = isUnsigned ? e.create<arith::DivUIOp>(a, divisor)
                          : e.create<arith::DivSIOp>(a, divisor);
  if (!remainder)
    return select(byZero, integer(type, -1), quotient);
  Value rest;
  if (quotient)
    rest =
        e.create<arith::SubIOp>(a, e.create<arith::MulIOp>(quotient, divisor));
  else
    rest = isUnsigned ? e.create<arith::RemUIOp>(a, divisor)
                      : e.create<arith::RemSIOp>(a, divisor);
  return select(byZero, a, rest);
}

/// By squaring. A negative exponent gives the integer part of 1 / x^-y.
Value ElementwiseWriter::integerPower(Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value one = integer(type, APInt(width, 1)), zero = integer(type, 0);
  KernelBuilder::Carried result = e.loop(
      e.index(0), e.index(width), 1, ValueRange{one, x, y},
      [&](Value, ValueRange carried) {
        Value odd = compareIntegers(
            CmpIPredicate::ne, e.create<arith::AndIOp>(carried[2], one), zero);
        Value next = select(
            odd, e.create<arith::MulIOp>(carried[0], carried[1]), carried[0]);
        return KernelBuilder::Carried{
            next, e.create<arith::MulIOp>(carried[1], carried[1]),
            e.create<arith::ShRUIOp>(carried[2], one)};
      });
  if (isUnsigned)
    return result[0];
  Value isNegative = compareIntegers(CmpIPredicate::slt, y, zero);
  Value isOdd =
      compareIntegers(CmpIPredicate::ne, e.create<arith::AndIOp>(y, one), zero);
  Value minusOne = integer(type, -1);
  Value ofMinusOne = select(isOdd, minusOne, one);
  // 1 / 0 is all ones.
  Value ofOthers =
      select(compareIntegers(CmpIPredicate::eq, x, zero), minusOne, zero);
  Value inverse = select(compareIntegers(CmpIPredicate::eq, x, one), one,
                         select(compareIntegers(CmpIPredicate::eq, x, minusOne),
                                ofMinusOne, ofOthers));
  return select(isNegative, inverse, result[0]);
}

/// A shift by as many bits as there are, or more, shifts everything out. LLVM
/// does not end on some vectors of fewer than 8 bits, so these are bytes here.
Value ElementwiseWriter::shift(Operation *op, Value a, Value b) {
  using namespace stablehlo;
  constexpr unsigned byte = 8;
  Type narrow = a.getType(), type = narrow;
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width < byte) {
    type = shaped(IntegerType::get(type.getContext(), byte));
    a = isa<ShiftRightArithmeticOp>(op) ? e.create<arith::ExtSIOp>(type, a)
                                        : e.create<arith::ExtUIOp>(type, a);
    b = e.create<arith::ExtUIOp>(type, b);
  }
  Value last = integer(type, int64_t(width) - 1);
  Value fits = compareIntegers(CmpIPredicate::ule, b, last);
  Value distance = select(fits, b, last);
  Value shifted = isa<ShiftLeftOp>(op) ? e.create<arith::ShLIOp>(a, distance)
                  : isa<ShiftRightArithmeticOp>(op)
                      ? e.create<arith::ShRSIOp>(a, distance)
                      : e.create<arith::ShRUIOp>(a, distance);
  if (!isa<ShiftRightArithmeticOp>(op))
    shifted = select(fits, shifted, integer(type, 0));
  return width < byte ? e.create<arith::TruncIOp>(narrow, shifted) : shifted;
}

Value ElementwiseWriter::integerOperation(Operation *op, Operands operands,
                                          Type element) {
  using namespace stablehlo;
  Value x = operands[0], y = operands.size() > 1 ? operands[1] : Value();
  Type type = x.getType();
  bool isBoolean = element.isInteger(1);
  bool isUnsigned = element.isUnsignedInteger() || isBoolean;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AddOp>([&](auto) {
        return isBoolean ? e.create<arith::OrIOp>(x, y)
                         : e.create<arith::AddIOp>(x, y);
      })
      .Case<MulOp>([&](auto) {
        return isBoolean ? e.create<arith::AndIOp>(x, y)
                         : e.create<arith::MulIOp>(x, y);
      })
      .Case<SubtractOp>([&](auto) { return e.create<arith::SubIOp>(x, y); })
      .Case<AndOp>([&](auto) { return e.create<arith::AndIOp>(x, y); })
      .Case<OrOp>([&](auto) { return e.create<arith::OrIOp>(x, y); })
      .Case<XorOp>([&](auto) { return e.create<arith::XOrIOp>(x, y); })
      .Case<MaxOp>([&](auto) {
        return isUnsigned ? e.create<arith::MaxUIOp>(x, y)
                          : e.create<arith::MaxSIOp>(x, y);
      })
      .Case<MinOp>([&](auto) {
        return isUnsigned ? e.create<arith::MinUIOp>(x, y)
                          : e.create<arith::MinSIOp>(x, y);
      })
      .Case<DivOp>(
          [&](auto) { return integerDivision(x, y, isUnsigned, false); })
      .Case<RemOp>(
          [&](auto) { return integerDivision(x, y, isUnsigned, true); })
      .Case<PowOp>([&](auto) { return integerPower(x, y, isUnsigned); })
      .Case<ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(
          [&](auto) { return shift(op, x, y); })
      .Case<AbsOp>(
          [&](auto) { return isUnsigned ? x : e.create<math::AbsIOp>(x); })
      .Case<NegOp>(
          [&](auto) { return e.create<arith::SubIOp>(integer(type, 0), x); })
      .Case<NotOp>(
          [&](auto) { return e.create<arith::XOrIOp>(x, integer(type, -1)); })
      .Case<ClzOp>([&](auto) { return e.create<math::CountLeadingZerosOp>(x); })
      .Case<PopcntOp>([&](auto) { return e.create<math::CtPopOp>(x); })
      .Case<SignOp>([&](auto) {
        Value zero = integer(type, 0), one = integer(type, 1);
        Value positive = select(compareIntegers(isUnsigned ? CmpIPredicate::ugt
                                                           : CmpIPredicate::sgt,
                                                x, zero),
                                one, zero);
        return isUnsigned ? positive
                          : select(compareIntegers(CmpIPredicate::slt, x, zero),
                                   integer(type, -1), positive);
      })
      .Default([](Operation *) -> Value {
        llvm_unreachable("not an operation on integers");
      });
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

Value ElementwiseWriter::complexOperation(Operation *op, Operands operands,
                                          Type result) {
  using namespace stablehlo;
  Value x = operands[0], y = operands.size() > 1 ? operands[1] : Value();
  if (!op)
    return e.create<complex::EqualOp>(x, y);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<ComplexOp>(
          [&](auto) { return e.create<complex::CreateOp>(result, x, y); })
      .Case<RealOp>([&](auto) {
        return isa<ComplexType>(x.getType()) ? e.create<complex::ReOp>(x) : x;
      })
      .Case<ImagOp>([&](auto) {
        return isa<ComplexType>(x.getType()) ? e.create<complex::ImOp>(x)
                                             : number(x.getType(), 0);
      })
      .Case<AddOp>([&](auto) { return e.create<complex::AddOp>(x, y); })
      .Case<SubtractOp>([&](auto) { return e.create<complex::SubOp>(x, y); })
      .Case<MulOp>([&](auto) { return e.create<complex::MulOp>(x, y); })
      .Case<NegOp>([&](auto) { return e.create<complex::NegOp>(x); })
      .Case<MaxOp>([&](auto) { return emitComplexMinMax(e, x, y, true); })
      .Case<MinOp>([&](auto) { return emitComplexMinMax(e, x, y, false); })
      .Default(
          [&](Operation *) { return emitComplexFunction(e, op, operands); });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Toward zero; what does not fit gives the nearest that does, NaN gives 0.
Value ElementwiseWriter::floatToInteger(Value value, Type to) {
  Type type = shaped(valueType(to)), floatType = value.getType();
  unsigned width = valueType(to).getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  APInt least =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt greatest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  // 2^bits is exact in every float type, the greatest integer is not.
  Value above =
      number(floatType, std::ldexp(1.0, isUnsigned ? width : width - 1));
  Value below =
      number(floatType, isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1));
  Value converted = isUnsigned ? e.create<arith::FPToUIOp>(type, value)
                               : e.create<arith::FPToSIOp>(type, value);
  using P = arith::CmpFPredicate;
  converted = select(compareFloats(P::OGE, value, above),
                     integer(type, greatest), converted);
  converted = select(compareFloats(P::OLT, value, below), integer(type, least),
                     converted);
  return select(compareFloats(P::UNO, value, value), integer(type, 0),
                converted);
}

Value ElementwiseWriter::convert(Value value, Type from, Type to) {
  if (from == to)
    return value;
  Builder &b = e.builder;
  if (auto complexType = dyn_cast<ComplexType>(from)) {
    Type part = complexType.getElementType();
    if (auto wanted = dyn_cast<ComplexType>(to)) {
      Value re = convert(e.create<complex::ReOp>(value), part,
                         wanted.getElementType());
      Value im = convert(e.create<complex::ImOp>(value), part,
                         wanted.getElementType());
      return e.create<complex::CreateOp>(wanted, re, im);
    }
    return convert(e.create<complex::ReOp>(value), part, to);
  }
  if (auto wanted = dyn_cast<ComplexType>(to)) {
    Type part = wanted.getElementType();
    return e.create<complex::CreateOp>(wanted, convert(value, from, part),
                                       number(part, 0));
  }
  Type type = shaped(valueType(to));
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    unsigned source = from.getIntOrFloatBitWidth(),
             target = to.getIntOrFloatBitWidth();
    if (isFloat8(from))
      return convert(emitDecode(e, value, from), b.getF32Type(), to);
    if (isFloat8(to) && from.isF32())
      return emitEncode(e, value, to);
    // The machine has no step between f64 and the smallest.
    if (from.isF64() && !to.isF32() && !to.isF16())
      return convert(emitRoundToOdd(e, value), b.getF32Type(), to);
    if ((source < 32 && target < 32) || (to.isF64() && source < 32))
      return convert(convert(value, from, b.getF32Type()), b.getF32Type(), to);
    if (source < target) {
      if (std::optional<APFloat> known = numberIn(value))
        return number(type, known->convertToDouble());
      Value exact = exactlyWide(value, type);
      return exact ? exact : e.create<arith::ExtFOp>(type, value);
    }
    return e.create<arith::TruncFOp>(type, value);
  }
  if (isa<FloatType>(from)) {
    if (!from.isF32() && !from.isF64())
      return convert(convert(value, from, b.getF32Type()), b.getF32Type(), to);
    if (to.isInteger(1))
      return compareFloats(arith::CmpFPredicate::UNE, value,
                           number(value.getType(), 0));
    return floatToInteger(value, to);
  }
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  unsigned source = valueType(from).getIntOrFloatBitWidth();
  if (isa<FloatType>(to)) {
    if (!to.isF32() && !to.isF64()) {
      // Exact on the way, so that it is rounded once.
      Type wide = source > 24 ? Type(b.getF64Type()) : Type(b.getF32Type());
      return convert(convert(value, from, wide), wide, to);
    }
    return isUnsigned ? e.create<arith::UIToFPOp>(type, value)
                      : e.create<arith::SIToFPOp>(type, value);
  }
  if (to.isInteger(1))
    return compareIntegers(CmpIPredicate::ne, value,
                           integer(value.getType(), 0));
  unsigned target = valueType(to).getIntOrFloatBitWidth();
  if (source == target)
    return value;
  if (source > target)
    return e.create<arith::TruncIOp>(type, value);
  return isUnsigned ? e.create<arith::ExtUIOp>(type, value)
                    : e.create<arith::ExtSIOp>(type, value);
}

Value cpu::emitConvert(KernelBuilder &code, Value value, Type from, Type to) {
  for (Type *each : {&from, &to})
    if (each->isIndex())
      *each = code.builder.getI64Type();
  return ElementwiseWriter(code, value.getType()).convert(value, from, to);
}

Value cpu::emitMultiplyAdd(KernelBuilder &code, Value a, Value b, Value sum,
                           bool mayFuse) {
  Type element = getElementTypeOrSelf(a.getType());
  if (isa<ComplexType>(element))
    return code.create<complex::AddOp>(sum, code.create<complex::MulOp>(a, b));
  if (isa<FloatType>(element)) {
    using arith::FastMathFlags;
    auto contract = mayFuse ? FastMathFlags::contract : FastMathFlags::none;
    auto reorder = mayFuse ? FastMathFlags::reassoc : FastMathFlags::none;
    Value product = code.create<arith::MulFOp>(a, b, contract);
    return code.create<arith::AddFOp>(sum, product, contract | reorder);
  }
  if (element.isInteger(1))
    return code.create<arith::OrIOp>(sum, code.create<arith::AndIOp>(a, b));
  return code.create<arith::AddIOp>(sum, code.create<arith::MulIOp>(a, b));
}
