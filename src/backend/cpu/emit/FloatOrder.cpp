//===- FloatOrder.cpp - floats as integers in the same order --------------===//

#include "backend/cpu/emit/FloatOrder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::hasIntegerOrder(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// \p type with integers in the place of its floats.
static Type integersLike(Type type) {
  auto integer = IntegerType::get(
      type.getContext(), getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(integer)) : integer;
}

static Value constant(KernelBuilder &e, Type type, const APInt &value) {
  auto scalar = IntegerAttr::get(getElementTypeOrSelf(type), value);
  auto vector = dyn_cast<VectorType>(type);
  return e.create<arith::ConstantOp>(
      vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar)))
             : scalar);
}

/// Sign and magnitude as two's complement.
Value cpu::emitTotalOrder(KernelBuilder &e, Value bits) {
  Type type = bits.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value sign = e.create<arith::ShRSIOp>(
      bits, constant(e, type, APInt(width, width - 1)));
  Value mask = e.create<arith::AndIOp>(
      sign, constant(e, type, APInt::getSignedMaxValue(width)));
  return e.create<arith::XOrIOp>(bits, mask);
}

Value cpu::emitToOrder(KernelBuilder &e, Value x, MinOrMax minOrMax) {
  Type type = integersLike(x.getType());
  auto element = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  unsigned width = element.getWidth();
  Value bits = e.create<arith::BitcastOp>(type, x);
  Value magnitude = e.create<arith::AndIOp>(
      bits, constant(e, type, APInt::getSignedMaxValue(width)));
  APInt infinity =
      APFloat::getInf(element.getFloatSemantics()).bitcastToAPInt();
  Value isNan = e.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, magnitude,
                                        constant(e, type, infinity));
  Value beyond = constant(e, type,
                          minOrMax == MinOrMax::Greatest
                              ? APInt::getSignedMaxValue(width)
                              : APInt::getSignedMinValue(width));
  return e.create<arith::SelectOp>(isNan, beyond, emitTotalOrder(e, bits));
}

Value cpu::emitFromOrder(KernelBuilder &e, Value order, Type type) {
  return e.create<arith::BitcastOp>(type, emitTotalOrder(e, order));
}

Value cpu::emitMinMax(KernelBuilder &e, Value a, Value b, MinOrMax minOrMax) {
  return minOrMax == MinOrMax::Greatest ? e.create<arith::MaxSIOp>(a, b)
                                        : e.create<arith::MinSIOp>(a, b);
}
