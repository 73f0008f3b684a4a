#include "backend/cpu/emit/RoundedConversion.h"

#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

Value cpu::emitRoundedConversion(KernelBuilder &code, Value value,
                                 Type element) {
  OpBuilder &b = code.builder;
  auto vector = dyn_cast<VectorType>(value.getType());
  auto shaped = [&](Type type) {
    return vector ? Type(vector.clone(type)) : type;
  };
  Type i32 = shaped(b.getI32Type()),
       narrow = shaped(b.getIntegerType(element.getIntOrFloatBitWidth()));
  if (vector) {
    // NaN gives a number whose low bits are zeros, or zero.
    Value integers = code.create<LLVM::CallIntrinsicOp>(
        i32, b.getStringAttr("llvm.lrint"), ValueRange(value));
    return code.create<arith::TruncIOp>(narrow, integers);
  }
  Value integer =
      code.create<arith::FPToSIOp>(i32, code.create<math::RoundEvenOp>(value));
  Value isNumber =
      code.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, value, value);
  Value zero = code.create<arith::ConstantOp>(b.getI32IntegerAttr(0));
  return code.create<arith::TruncIOp>(
      narrow, code.create<arith::SelectOp>(isNumber, integer, zero));
}
