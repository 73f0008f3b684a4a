//===- ElementwiseFloat.cpp - elementwise operations on floats ------------===//

#include "backend/cpu/emit/ComplexMath.h"
#include "backend/cpu/emit/ElementwiseWriter.h"
#include "backend/cpu/emit/FloatOrder.h"
#include "backend/cpu/emit/Math.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using arith::CmpFPredicate;

Type ElementwiseWriter::shaped(Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

Value ElementwiseWriter::constant(Type type, TypedAttr scalar) {
  auto vector = dyn_cast<VectorType>(type);
  return e.create<arith::ConstantOp>(
      vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar)))
             : scalar);
}

Value ElementwiseWriter::number(Type type, double value) {
  return constant(type,
                  e.builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value ElementwiseWriter::integer(Type type, const llvm::APInt &value) {
  return constant(type,
                  e.builder.getIntegerAttr(getElementTypeOrSelf(type), value));
}

Value ElementwiseWriter::integer(Type type, int64_t value) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return integer(type, llvm::APInt(64, value, true).sextOrTrunc(width));
}

/// The number that \p tensor has everywhere, if it is known.
static std::optional<APFloat> knownNumber(Value tensor) {
  while (auto broadcast = tensor.getDefiningOp<stablehlo::BroadcastInDimOp>())
    tensor = broadcast.getOperand();
  auto constant = tensor.getDefiningOp<stablehlo::ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat())
    return std::nullopt;
  return dense.getSplatValue<APFloat>();
}

/// Whether x * reciprocal and x / divisor are rounded to the same number of
/// \p type for each x there is. Where both are tiny, they may be taken for zero
/// or not.
static bool isExactReciprocal(float reciprocal, float divisor,
                              const llvm::fltSemantics &type) {
  auto rounded = [&](float value) {
    APFloat narrow(value);
    bool losesInfo;
    narrow.convert(type, APFloat::rmNearestTiesToEven, &losesInfo);
    return narrow;
  };
  auto isDenormal = [](float value) {
    return std::fpclassify(value) == FP_SUBNORMAL;
  };
  const unsigned width = APFloat::semanticsSizeInBits(type);
  for (uint64_t bits = 0; bits < uint64_t(1) << width; ++bits) {
    const float x = float(APFloat(type, APInt(width, bits)).convertToDouble());
    if (std::isnan(x))
      continue;
    const float quotient = x / divisor, product = x * reciprocal;
    if (isDenormal(quotient) != isDenormal(product))
      return false;
    // Most are the same already.
    if (quotient != product && !std::isnan(quotient) &&
        !rounded(quotient).bitwiseIsEqual(rounded(product)))
      return false;
  }
  return true;
}

/// The reciprocal of the divisor of \p op, a division of f16 or bf16 by one
/// number, where a product with it is rounded to the same.
Value ElementwiseWriter::exactReciprocal(Operation *op, Type element) {
  if (!isa<stablehlo::DivOp>(op) || !(element.isF16() || element.isBF16()))
    return {};
  std::optional<APFloat> divisor = knownNumber(op->getOperand(1));
  if (!divisor || !divisor->isNormal())
    return {};
  const float number = float(divisor->convertToDouble());
  const float reciprocal = 1.0f / number;
  if (!std::isnormal(reciprocal) ||
      !isExactReciprocal(reciprocal, number, divisor->getSemantics()))
    return {};
  return this->number(shaped(e.builder.getF32Type()), reciprocal);
}

Value ElementwiseWriter::floatOperation(Operation *op, Operands operands,
                                        Type element) {
  if (element.isF32() || element.isF64())
    return wideFloat(op, operands);
  Type f32 = e.builder.getF32Type();
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(convert(operand, element, f32));
  if (Value reciprocal = exactReciprocal(op, element))
    return convert(e.create<arith::MulFOp>(wide[0], reciprocal), f32, element);
  Value result = wideFloat(op, wide, /*roundsToHalf=*/true);
  return getElementTypeOrSelf(result.getType()).isF32()
             ? convert(result, f32, element)
             : result;
}

/// On f32 or f64; \p roundsToHalf: f32 of which at most 11 bits are kept.
Value ElementwiseWriter::wideFloat(Operation *op, Operands operands,
                                   bool roundsToHalf) {
  using namespace stablehlo;
  Value x = operands[0], y = operands.size() > 1 ? operands[1] : Value();
  Type type = x.getType();
  bool isF32 = getElementTypeOrSelf(type).isF32();
  auto flags =
      reassociate ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
  using Function = Value (*)(KernelBuilder &, Value);
  auto fast = [&](Function emit, auto otherwise) {
    return isF32 ? emit(e, x) : otherwise();
  };
  auto shorter = [&](Function ofHalf, Function ofFloat) {
    return roundsToHalf ? ofHalf : ofFloat;
  };
  auto one = [&] { return number(type, 1); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AddOp>([&](auto) { return e.create<arith::AddFOp>(x, y, flags); })
      .Case<MulOp>([&](auto) { return e.create<arith::MulFOp>(x, y, flags); })
      .Case<SubtractOp>([&](auto) { return e.create<arith::SubFOp>(x, y); })
      .Case<DivOp>([&](auto) { return e.create<arith::DivFOp>(x, y); })
      .Case<RemOp>([&](auto) { return floatRemainder(x, y); })
      .Case<MaxOp>([&](auto) { return e.create<arith::MaximumFOp>(x, y); })
      .Case<MinOp>([&](auto) { return e.create<arith::MinimumFOp>(x, y); })
      .Case<PowOp>([&](auto) { return floatPower(op, x, y); })
      .Case<Atan2Op>([&](auto) {
        return isF32 ? emitAtan2(e, x, y) : e.create<math::Atan2Op>(x, y);
      })
      .Case<AbsOp>([&](auto) { return e.create<math::AbsFOp>(x); })
      .Case<NegOp>([&](auto) { return e.create<arith::NegFOp>(x); })
      .Case<CeilOp>([&](auto) { return e.create<math::CeilOp>(x); })
      .Case<FloorOp>([&](auto) { return e.create<math::FloorOp>(x); })
      .Case<RoundOp>([&](auto) { return e.create<math::RoundOp>(x); })
      .Case<RoundNearestEvenOp>(
          [&](auto) { return e.create<math::RoundEvenOp>(x); })
      .Case<SqrtOp>([&](auto) { return e.create<math::SqrtOp>(x); })
      .Case<RsqrtOp>([&](auto) {
        return e.create<arith::DivFOp>(one(), e.create<math::SqrtOp>(x));
      })
      .Case<CbrtOp>([&](auto) {
        return fast(emitCbrt, [&] {
          return refineCubicRoot(e.create<math::CbrtOp>(x), x);
        });
      })
      .Case<SineOp>([&](auto) {
        return fast(emitSin, [&] { return e.create<math::SinOp>(x); });
      })
      .Case<CosineOp>([&](auto) {
        return fast(emitCos, [&] { return e.create<math::CosOp>(x); });
      })
      .Case<TanOp>([&](auto) {
        return fast(emitTan, [&] { return e.create<math::TanOp>(x); });
      })
      .Case<ExpOp>([&](auto) {
        return fast(shorter(emitExpForHalf, emitExp),
                    [&] { return e.create<math::ExpOp>(x); });
      })
      .Case<Expm1Op>([&](auto) {
        return fast(emitExpm1, [&] { return e.create<math::ExpM1Op>(x); });
      })
      .Case<LogOp>([&](auto) {
        return fast(emitLog, [&] { return e.create<math::LogOp>(x); });
      })
      .Case<Log1pOp>([&](auto) {
        return fast(emitLog1p, [&] { return e.create<math::Log1pOp>(x); });
      })
      .Case<TanhOp>([&](auto) {
        return fast(emitTanh, [&] { return e.create<math::TanhOp>(x); });
      })
      .Case<nn::ErfOp>([&](auto) {
        return fast(shorter(emitErfForHalf, emitErf),
                    [&] { return e.create<math::ErfOp>(x); });
      })
      .Case<nn::ErfcOp>([&](auto) { return emitErfc(e, x); })
      .Case<nn::AcosOp>([&](auto) { return emitAcos(e, x); })
      .Case<nn::AsinOp>([&](auto) { return emitAsin(e, x); })
      .Case<nn::AtanOp>([&](auto) { return emitAtan(e, x); })
      .Case<LogisticOp>([&](auto) {
        return fast(shorter(emitLogisticForHalf, emitLogistic), [&] {
          // e^-|x| does not overflow.
          Value power = e.create<math::ExpOp>(
              e.create<arith::NegFOp>(e.create<math::AbsFOp>(x)));
          Value isNegative =
              compareFloats(CmpFPredicate::OLT, x, number(type, 0));
          return e.create<arith::DivFOp>(select(isNegative, power, one()),
                                         e.create<arith::AddFOp>(power, one()));
        });
      })
      .Case<SignOp>([&](auto) {
        Value zero = number(type, 0);
        Value negative = select(compareFloats(CmpFPredicate::OLT, x, zero),
                                number(type, -1), x);
        return select(compareFloats(CmpFPredicate::OGT, x, zero), one(),
                      negative);
      })
      .Case<IsFiniteOp>([&](auto) {
        Value infinity = number(type, std::numeric_limits<double>::infinity());
        return compareFloats(CmpFPredicate::OLT, e.create<math::AbsFOp>(x),
                             infinity);
      })
      .Case<ReducePrecisionOp>(
          [&](ReducePrecisionOp r) { return reducePrecision(r, x); })
      .Default([](Operation *) -> Value {
        llvm_unreachable("not an operation on floats");
      });
}

/// One step of Newton's method: C libraries are off by some units of the last
/// place.
Value ElementwiseWriter::refineCubicRoot(Value root, Value x) {
  Type type = root.getType();
  Value square = e.create<arith::MulFOp>(root, root);
  Value rest = e.create<math::FmaOp>(square, root, e.create<arith::NegFOp>(x));
  Value slope = e.create<arith::MulFOp>(square, number(type, 3));
  Value refined =
      e.create<arith::SubFOp>(root, e.create<arith::DivFOp>(rest, slope));
  // Zeros and infinities are exact, and have no slope.
  Value isUsual = compareFloats(CmpFPredicate::ORD, refined, refined);
  return select(isUsual, refined, root);
}

Value ElementwiseWriter::floatPower(Operation *op, Value x, Value y) {
  std::optional<double> exponent;
  if (std::optional<APFloat> known = knownNumber(op->getOperand(1)))
    exponent = known->convertToDouble();
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return e.create<arith::MulFOp>(x, x);
  if (exponent == 3)
    return e.create<arith::MulFOp>(e.create<arith::MulFOp>(x, x), x);
  if (exponent == -1)
    return e.create<arith::DivFOp>(number(x.getType(), 1), x);
  if (getElementTypeOrSelf(x).isF64())
    return e.create<math::PowFOp>(x, y);
  return emitPow(e, x, y);
}

Value ElementwiseWriter::floatRemainder(Value x, Value y) {
  if (getElementTypeOrSelf(x).isF64())
    return e.create<arith::RemFOp>(x, y);
  std::optional<APFloat> divisor = numberIn(y);
  if (!divisor || !divisor->isFiniteNonZero())
    return emitRemainder(e, x, y);
  const int bits = std::numeric_limits<float>::max_exponent - ilogb(*divisor);
  return emitRemainder(e, x, y, bits);
}

/// Rounds the mantissa to even, then turns exponents that are out of range into
/// infinities and zeros (the specification's reduce_precision).
Value ElementwiseWriter::reducePrecision(stablehlo::ReducePrecisionOp op,
                                         Value x) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(element).getFloatSemantics();
  unsigned width = element.getIntOrFloatBitWidth();
  unsigned mantissa = llvm::APFloat::semanticsPrecision(semantics) - 1;
  unsigned exponentWidth = width - 1 - mantissa;
  Type intType = shaped(e.builder.getIntegerType(width));
  auto bitsConstant = [&](const APInt &bits) { return integer(intType, bits); };
  auto fromBits = [&](Value v) { return e.create<arith::BitcastOp>(type, v); };
  Value bits = e.create<arith::BitcastOp>(intType, x);

  unsigned wanted = op.getMantissaBits();
  if (wanted < mantissa) {
    unsigned dropped = mantissa - wanted;
    Value last = e.create<arith::AndIOp>(
        e.create<arith::ShRUIOp>(bits, integer(intType, dropped)),
        integer(intType, 1));
    APInt half = APInt::getLowBitsSet(width, dropped - 1);
    Value bias = e.create<arith::AddIOp>(last, bitsConstant(half));
    bits = e.create<arith::AddIOp>(bits, bias);
    bits = e.create<arith::AndIOp>(
        bits, bitsConstant(APInt::getHighBitsSet(width, width - dropped)));
  }
  Value rounded = fromBits(bits);
  if (unsigned wantedExponent = op.getExponentBits();
      wantedExponent < exponentWidth) {
    int64_t maxExponent = (int64_t(1) << (wantedExponent - 1)) - 1;
    int64_t bias = (int64_t(1) << (exponentWidth - 1)) - 1;
    auto powerOfTwo = [&](int64_t power) {
      return fromBits(bitsConstant(APInt(width, power + bias).shl(mantissa)));
    };
    Value magnitude = e.create<math::AbsFOp>(rounded);
    Value infinity = number(type, std::numeric_limits<double>::infinity());
    Value isLarge = compareFloats(CmpFPredicate::OGE, magnitude,
                                  powerOfTwo(maxExponent + 1));
    Value isSmall = compareFloats(CmpFPredicate::OLT, magnitude,
                                  powerOfTwo(1 - maxExponent));
    rounded = select(isLarge, e.create<math::CopySignOp>(infinity, x), rounded);
    rounded = select(isSmall, e.create<math::CopySignOp>(number(type, 0), x),
                     rounded);
  }
  // Without a mantissa there is no NaN.
  Value nan =
      wanted == 0
          ? e.create<math::CopySignOp>(
                number(type, std::numeric_limits<double>::infinity()), x)
          : x;
  return select(compareFloats(CmpFPredicate::UNO, x, x), nan, rounded);
}

std::optional<APFloat> ElementwiseWriter::numberIn(Value value) {
  if (auto splat = value.getDefiningOp<vector::SplatOp>())
    value = splat.getInput();
  else if (auto spread = value.getDefiningOp<vector::BroadcastOp>())
    value = spread.getSource();
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)) || number.isNaN())
    return std::nullopt;
  return number;
}

/// One instruction a bound, as machines compare: NaN stays.
Value ElementwiseWriter::clampByNumbers(Value least, Value x, Value greatest) {
  using P = arith::CmpFPredicate;
  Value result = select(compareFloats(P::OGT, least, x), least, x);
  return select(compareFloats(P::OLT, greatest, result), greatest, result);
}

Value ElementwiseWriter::clamp(Value least, Value x, Value greatest,
                               Type element) {
  if (isa<ComplexType>(element))
    return emitComplexMinMax(e, emitComplexMinMax(e, x, least, true), greatest,
                             false);
  if (isa<FloatType>(element)) {
    // Narrow floats compare as they stand in f32.
    Type wide = element.isF64() ? element : Type(e.builder.getF32Type());
    if (numberIn(least) && numberIn(greatest))
      return convert(clampByNumbers(convert(least, element, wide),
                                    convert(x, element, wide),
                                    convert(greatest, element, wide)),
                     wide, element);
    Value result = e.create<arith::MinimumFOp>(
        e.create<arith::MaximumFOp>(convert(x, element, wide),
                                    convert(least, element, wide)),
        convert(greatest, element, wide));
    return convert(result, wide, element);
  }
  if (element.isUnsignedInteger() || element.isInteger(1))
    return e.create<arith::MinUIOp>(e.create<arith::MaxUIOp>(x, least),
                                    greatest);
  return e.create<arith::MinSIOp>(e.create<arith::MaxSIOp>(x, least), greatest);
}

/// Integers in the order of the specification's TOTALORDER of the floats
/// \p element.
Value ElementwiseWriter::totalOrder(Value value, FloatType element) {
  unsigned width = element.getWidth();
  Type type = shaped(e.builder.getIntegerType(width));
  Value bits =
      value.getType() == type ? value : e.create<arith::BitcastOp>(type, value);
  Value order = emitTotalOrder(e, bits);
  // Where the code of -0 is the only NaN, that is a negative one, and all
  // negative numbers have room to move up.
  const APInt nan =
      APFloat::getNaN(element.getFloatSemantics()).bitcastToAPInt();
  if (!nan.isSignMask())
    return order;
  Value least = integer(type, nan);
  Value negative = e.create<arith::ShRSIOp>(bits, integer(type, width - 1));
  return select(compareIntegers(arith::CmpIPredicate::eq, bits, least), least,
                e.create<arith::SubIOp>(order, negative));
}

/// Complex numbers in the order of their pairs (real, imaginary).
Value ElementwiseWriter::compareInOrder(
    stablehlo::ComparisonDirection direction, Value a, Value b) {
  using Direction = stablehlo::ComparisonDirection;
  const bool isLess = direction == Direction::LT || direction == Direction::LE;
  const bool isStrict =
      direction == Direction::LT || direction == Direction::GT;
  const CmpFPredicate strictly =
      isLess ? CmpFPredicate::OLT : CmpFPredicate::OGT;
  const CmpFPredicate loosely =
      isLess ? CmpFPredicate::OLE : CmpFPredicate::OGE;
  Value realA = e.create<complex::ReOp>(a), realB = e.create<complex::ReOp>(b);
  Value imaginaryFits =
      compareFloats(isStrict ? strictly : loosely, e.create<complex::ImOp>(a),
                    e.create<complex::ImOp>(b));
  Value sameReal = compareFloats(CmpFPredicate::OEQ, realA, realB);
  return e.create<arith::OrIOp>(
      compareFloats(strictly, realA, realB),
      e.create<arith::AndIOp>(sameReal, imaginaryFits));
}

Value ElementwiseWriter::compare(
    stablehlo::ComparisonDirection direction,
    std::optional<stablehlo::ComparisonType> compareType, Value a, Value b,
    Type element) {
  using Direction = stablehlo::ComparisonDirection;
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  if (auto complexType = dyn_cast<ComplexType>(element)) {
    Value equal = complexOperation(nullptr, {a, b}, {});
    if (direction == Direction::EQ)
      return equal;
    if (direction == Direction::NE)
      return e.create<arith::XOrIOp>(equal, e.boolean(true));
    return compareInOrder(direction, a, b);
  }
  bool isTotal = compareType == stablehlo::ComparisonType::TOTALORDER;
  if (isa<FloatType>(element) && !isTotal) {
    static constexpr CmpFPredicate predicates[] = {
        CmpFPredicate::OEQ, CmpFPredicate::UNE, CmpFPredicate::OGE,
        CmpFPredicate::OGT, CmpFPredicate::OLE, CmpFPredicate::OLT};
    Type wide = element.isF64() ? element : Type(e.builder.getF32Type());
    return compareFloats(predicates[static_cast<int>(direction)],
                         convert(a, element, wide), convert(b, element, wide));
  }
  if (auto floating = dyn_cast<FloatType>(element)) {
    a = totalOrder(a, floating);
    b = totalOrder(b, floating);
  }
  using P = arith::CmpIPredicate;
  static constexpr P signedOnes[] = {P::eq,  P::ne,  P::sge,
                                     P::sgt, P::sle, P::slt};
  static constexpr P unsignedOnes[] = {P::eq,  P::ne,  P::uge,
                                       P::ugt, P::ule, P::ult};
  return compareIntegers(
      (isUnsigned ? unsignedOnes : signedOnes)[static_cast<int>(direction)], a,
      b);
}
