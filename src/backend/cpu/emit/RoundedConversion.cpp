#include "backend/cpu/emit/RoundedConversion.h"

#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool isIntegral(Value value) {
  if (value.getDefiningOp<stablehlo::RoundNearestEvenOp>())
    return true;
  auto sum = value.getDefiningOp<stablehlo::AddOp>();
  if (!sum || !sum.getLhs().getDefiningOp<stablehlo::RoundNearestEvenOp>())
    return false;
  Value shift = sum.getRhs();
  if (auto spread = shift.getDefiningOp<stablehlo::BroadcastInDimOp>())
    shift = spread.getOperand();
  if (auto converted = shift.getDefiningOp<stablehlo::ConvertOp>())
    return isa<IntegerType>(getElementTypeOrSelf(converted.getOperand()));
  std::optional<double> number = splatNumber(shift);
  return number && *number == std::trunc(*number);
}

Value cpu::roundedOperand(stablehlo::ConvertOp op) {
  Value operand = op.getOperand();
  auto to = dyn_cast<IntegerType>(tensorOf(op.getResult()).getElementType());
  if (!to || to.getWidth() > 8 || to.getWidth() < 2 ||
      !tensorOf(operand).getElementType().isF32())
    return {};
  auto round = operand.getDefiningOp<stablehlo::RoundNearestEvenOp>();
  if (round)
    operand = round.getOperand();
  auto clamp = operand.getDefiningOp<stablehlo::ClampOp>();
  if (!clamp || !(round || isIntegral(clamp.getOperand())))
    return {};
  std::optional<double> least = splatNumber(clamp.getMin()),
                        greatest = splatNumber(clamp.getMax());
  const IntegerBounds bounds = boundsOf(to);
  const bool isInside = least && greatest && *least >= double(bounds.least) &&
                        *greatest <= double(bounds.greatest) &&
                        *least <= *greatest;
  return isInside ? operand : Value();
}

std::optional<ShiftedRounding> ShiftedRounding::of(stablehlo::ConvertOp op) {
  constexpr double most = 1 << 22;
  Value cutValue = roundedOperand(op);
  auto clamp = cutValue ? cutValue.getDefiningOp<stablehlo::ClampOp>()
                        : stablehlo::ClampOp();
  if (!clamp || splatNumber(clamp.getMin()) != 0.0)
    return std::nullopt;
  auto sum = clamp.getOperand().getDefiningOp<stablehlo::AddOp>();
  auto rounding =
      sum ? sum.getLhs().getDefiningOp<stablehlo::RoundNearestEvenOp>()
          : stablehlo::RoundNearestEvenOp();
  if (!rounding)
    return std::nullopt;
  ShiftedRounding found{
      rounding.getOperand(), {}, 0, int64_t(*splatNumber(clamp.getMax()))};
  Value shift = sum.getRhs();
  if (std::optional<double> number = splatNumber(shift)) {
    found.number = int64_t(*number);
    return std::abs(*number) <= most ? std::optional(found) : std::nullopt;
  }
  auto spread = shift.getDefiningOp<stablehlo::BroadcastInDimOp>();
  auto real = spread ? spread.getOperand().getDefiningOp<stablehlo::ConvertOp>()
                     : stablehlo::ConvertOp();
  auto integer =
      real && tensorOf(real.getOperand()).getRank() == 0
          ? dyn_cast<IntegerType>(tensorOf(real.getOperand()).getElementType())
          : IntegerType();
  if (!integer || integer.getWidth() == 1 ||
      !(integer.getWidth() <= 16 || integer.isSignlessInteger(32)))
    return std::nullopt;
  found.shift = real.getOperand();
  return found;
}

/// \p value, f32 or a vector of these, rounded to integers of 32 bits: an
/// instruction, for scalars that LLVM makes vectors of, too.
static Value roundedToInteger(KernelBuilder &code, Value value) {
  OpBuilder &b = code.builder;
  auto vector = dyn_cast<VectorType>(value.getType());
  Type i32 = vector ? Type(vector.clone(b.getI32Type())) : b.getI32Type();
  return code.create<LLVM::CallIntrinsicOp>(i32, b.getStringAttr("llvm.lrint"),
                                            ValueRange(value));
}

Value cpu::emitShiftedRounding(KernelBuilder &code,
                               const ShiftedRounding &rounding, Value value,
                               Value shift, Type element) {
  OpBuilder &b = code.builder;
  auto vector = dyn_cast<VectorType>(value.getType());
  auto shaped = [&](Type type) {
    return vector ? Type(vector.clone(type)) : type;
  };
  auto spread = [&](Value scalar) -> Value {
    return vector ? code.create<vector::SplatOp>(vector.clone(scalar.getType()),
                                                 scalar)
                  : scalar;
  };
  if (!rounding.shift)
    shift = code.create<arith::ConstantOp>(
        b.getI32IntegerAttr(int32_t(rounding.number)));
  else if (auto type =
               cast<IntegerType>(tensorOf(rounding.shift).getElementType());
           type.getWidth() < 32)
    shift = type.isUnsigned()
                ? Value(code.create<arith::ExtUIOp>(b.getI32Type(), shift))
                : Value(code.create<arith::ExtSIOp>(b.getI32Type(), shift));
  Value shiftAsFloat = code.create<arith::SIToFPOp>(b.getF32Type(), shift);
  auto bound = [&](int64_t of) {
    Value number = code.create<arith::ConstantOp>(b.getF32FloatAttr(float(of)));
    return spread(code.create<arith::SubFOp>(number, shiftAsFloat));
  };
  // NaN becomes the least, which is 0 in the end.
  auto cut = [&](Value number, Value bound, arith::CmpFPredicate isInside) {
    return code.create<arith::SelectOp>(
        code.create<arith::CmpFOp>(isInside, number, bound), number, bound);
  };
  Value inside = cut(value, bound(0), arith::CmpFPredicate::OGT);
  inside = cut(inside, bound(rounding.greatest), arith::CmpFPredicate::OLT);
  return code.create<arith::TruncIOp>(
      shaped(b.getIntegerType(element.getIntOrFloatBitWidth())),
      code.create<arith::AddIOp>(roundedToInteger(code, inside),
                                 spread(shift)));
}

Value cpu::emitRoundedConversion(KernelBuilder &code, Value value,
                                 Type element) {
  Type narrow = code.builder.getIntegerType(element.getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    narrow = vector.clone(narrow);
  // NaN gives a number whose low bits are zeros, or zero.
  return code.create<arith::TruncIOp>(narrow, roundedToInteger(code, value));
}
