//===- BFloat16Roundings.cpp - mark bf16 roundings without NaN checks -----===//

#include "backend/cpu/precision/BFloat16Roundings.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/ADT/DenseSet.h"

#include <cmath>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
namespace hlo = sinter::stablehlo;

/// Whether \p constant, of f32, has no NaN.
static bool hasNoNaN(Value constant) {
  const std::optional<Tensor> tensor = constantTensor(constant);
  if (!tensor)
    return false;
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (std::isnan(tensor->at<float>(i)))
      return false;
  return true;
}

static bool roundsToBFloat16(hlo::ConvertOp op) {
  return getElementTypeOrSelf(op.getType()).isBF16() &&
         getElementTypeOrSelf(op.getOperand().getType()).isF32();
}

/// Whether all operands of \p op but one are splat constants: otherwise the
/// maximum of a NaN and another value may mix the bits of both.
static bool hasOneVariableOperand(Operation *op) {
  return llvm::count_if(op->getOperands(), [](Value operand) {
           auto spread = operand.getDefiningOp<hlo::BroadcastInDimOp>();
           return !isSplatConstant(spread ? spread.getOperand() : operand);
         }) <= 1;
}

/// Whether a NaN result of \p op is an operand's NaN or the hardware's default
/// one.
static bool isArithmetic(Operation *op) {
  if (isa<hlo::MaxOp, hlo::MinOp, hlo::ClampOp>(op))
    return hasOneVariableOperand(op);
  return isa<hlo::ConvertOp, hlo::AddOp, hlo::SubtractOp, hlo::MulOp,
             hlo::DivOp, hlo::NegOp, hlo::AbsOp, hlo::SelectOp, hlo::SqrtOp,
             hlo::RsqrtOp, hlo::ReshapeOp, hlo::TransposeOp,
             hlo::BroadcastInDimOp, hlo::SliceOp, hlo::PadOp,
             hlo::ConcatenateOp, hlo::DotGeneralOp, ConvolutionOp,
             LowBitProductOp, PackOp, UnpackOp>(op);
}

void cpu::markRoundings(func::FuncOp function) {
  // Avoids a scan of all weights if there is nothing to mark.
  const bool rounds = function
                          .walk([](hlo::ConvertOp op) {
                            return roundsToBFloat16(op)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
  if (!rounds)
    return;
  // f32 values whose NaNs, if any, come from bf16 or from arithmetic.
  llvm::DenseSet<Value> plain;
  auto isPlain = [&](Value value) {
    const Type element = getElementTypeOrSelf(value.getType());
    return element.isBF16() || isa<IntegerType>(element) ||
           plain.contains(value);
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() != 1)
      return;
    const Value result = op->getResult(0);
    const Type element = getElementTypeOrSelf(result.getType());
    if (auto rounding = dyn_cast<hlo::ConvertOp>(op);
        rounding && roundsToBFloat16(rounding) &&
        plain.contains(rounding.getOperand()))
      op->setDiscardableAttr(ofBFloat16Attribute,
                             UnitAttr::get(op->getContext()));
    if (!element.isF32())
      return;
    if (isa<hlo::ConstantOp>(op)
            ? hasNoNaN(result)
            : isArithmetic(op) && llvm::all_of(op->getOperands(), isPlain))
      plain.insert(result);
  });
}
