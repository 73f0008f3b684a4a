// Functions by bit patterns: next_after, the predicates, mulhi.

#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

#include <limits>

using namespace mlir;

namespace sinter::chlo {

using nn::tensorOf;

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

Value isInf(TensorBuilder &emit, Value x) {
  return emit.compare(Direction::EQ, emit.abs(x), infinityLike(emit, x));
}
Value isPosInf(TensorBuilder &emit, Value x) {
  return emit.compare(Direction::EQ, x, infinityLike(emit, x));
}
Value isNegInf(TensorBuilder &emit, Value x) {
  return emit.compare(Direction::EQ, x, emit.neg(infinityLike(emit, x)));
}

//===----------------------------------------------------------------------===//
// next_after
//===----------------------------------------------------------------------===//

/// Floats of one sign have the order of their bits, so a step away from zero
/// adds one to the bits; from zero itself it gives the smallest float, with the
/// sign of y (IEEE 754, nextUp and nextDown).
Value nextAfter(TensorBuilder &emit, Value x, Value y) {
  auto type = tensorOf(x);
  unsigned width = type.getElementTypeBitWidth();
  auto bitsType = cast<RankedTensorType>(type.clone(emit.integerType(width)));
  auto bitsOf = [&](Value value) {
    return emit.make<stablehlo::BitcastConvertOp>(bitsType, value);
  };
  auto pattern = [&](const APInt &value) {
    Value scalar = emit.make<stablehlo::ConstantOp>(
        RankedTensorType::get({}, bitsType.getElementType()),
        cast<ElementsAttr>(DenseElementsAttr::get(
            RankedTensorType::get({}, bitsType.getElementType()), value)));
    return emit.spread(scalar, bitsType);
  };
  Value one = pattern(APInt(width, 1));
  Value bits = bitsOf(x);
  Value zero = emit.splat(0, type);
  Value isUp = emit.compare(Direction::LT, x, y);
  Value isPositive = emit.compare(Direction::GT, x, zero);
  // Up from a positive value and down from a negative one lead away from zero.
  Value isAway = emit.make<stablehlo::NotOp>(
      emit.make<stablehlo::XorOp>(isUp, isPositive));
  Value step = emit.select(isAway, one, pattern(APInt::getAllOnes(width)));
  Value sign = emit.make<stablehlo::AndOp>(bitsOf(y),
                                           pattern(APInt::getSignMask(width)));
  Value least = either(emit, sign, one);
  Value moved = emit.select(emit.compare(Direction::EQ, x, zero), least,
                            emit.add(bits, step));
  Value result = emit.make<stablehlo::BitcastConvertOp>(type, moved);
  result = emit.select(emit.compare(Direction::EQ, x, y), y, result);
  Value isNan = either(emit, emit.compare(Direction::NE, x, x),
                       emit.compare(Direction::NE, y, y));
  return emit.select(isNan, nanLike(emit, x), result);
}

//===----------------------------------------------------------------------===//
// mulhi
//===----------------------------------------------------------------------===//

/// mulhi of narrow integers, in the type of twice the width.
static Value mulhiWidened(TensorBuilder &emit, Value lhs, Value rhs,
                          unsigned width, bool isUnsigned) {
  Type element = tensorOf(lhs).getElementType();
  Type wide = IntegerType::get(element.getContext(), 2 * width,
                               isUnsigned ? IntegerType::Unsigned
                                          : IntegerType::Signless);
  Value product = emit.mul(emit.convert(lhs, wide), emit.convert(rhs, wide));
  Value amount = emit.splat(width, tensorOf(product));
  Value upper =
      isUnsigned
          ? emit.make<stablehlo::ShiftRightLogicalOp>(product, amount)
          : emit.make<stablehlo::ShiftRightArithmeticOp>(product, amount);
  return emit.convert(upper, element);
}

/// mulhi of the widest integers, by halves: H. S. Warren, "Hacker's Delight",
/// section 8-2.
static Value mulhiByHalves(TensorBuilder &emit, Value lhs, Value rhs,
                           unsigned width, bool isUnsigned) {
  auto type = tensorOf(lhs);
  const unsigned half = width / 2;
  const double base = static_cast<double>(uint64_t(1) << half);
  Value amount = emit.splat(half, type);
  Value mask = emit.splat(base - 1, type);
  auto low = [&](Value x) { return both(emit, x, mask); };
  auto high = [&](Value x) {
    return isUnsigned ? emit.make<stablehlo::ShiftRightLogicalOp>(x, amount)
                      : emit.make<stablehlo::ShiftRightArithmeticOp>(x, amount);
  };
  Value lowest = emit.mul(low(lhs), low(rhs));
  Value carry = emit.make<stablehlo::ShiftRightLogicalOp>(lowest, amount);
  Value first = emit.add(emit.mul(high(lhs), low(rhs)), carry);
  Value second = emit.add(emit.mul(low(lhs), high(rhs)), low(first));
  return emit.add(emit.add(emit.mul(high(lhs), high(rhs)), high(first)),
                  high(second));
}

Value mulhi(TensorBuilder &emit, Value lhs, Value rhs) {
  Type element = tensorOf(lhs).getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  // A product of two booleans has one bit.
  if (width == 1)
    return emit.make<stablehlo::XorOp>(lhs, lhs);
  bool isUnsigned = element.isUnsignedInteger();
  return width < 64 ? mulhiWidened(emit, lhs, rhs, width, isUnsigned)
                    : mulhiByHalves(emit, lhs, rhs, width, isUnsigned);
}

} // namespace sinter::chlo
