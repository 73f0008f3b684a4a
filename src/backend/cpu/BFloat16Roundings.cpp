#include "backend/cpu/BFloat16Roundings.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/ADT/DenseSet.h"

#include <cmath>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
namespace hlo = sinter::stablehlo;

/// Whether \p constant, of floats, has no NaN.
static bool hasNumbersOnly(Value constant) {
  const std::optional<Tensor> tensor = constantTensor(constant);
  if (!tensor)
    return false;
  if (tensor->type() != ElementType::F32)
    return tensor->type() == ElementType::BF16;
  bool hasNaN = false;
  for (int64_t i = 0; i < tensor->size(); ++i)
    hasNaN |= std::isnan(tensor->at<float>(i));
  return !hasNaN;
}

namespace {

/// Finds values whose NaN, if there are any, are those of bf16, or what
/// arithmetic gives.
class Provenance {
public:
  bool isOfBFloat16(Value value) {
    asked.clear();
    if (!find(value))
      return false;
    known.insert(asked.begin(), asked.end());
    return true;
  }

private:
  bool find(Value value) {
    const Type element = getElementTypeOrSelf(value.getType());
    if (element.isBF16() || isa<IntegerType>(element))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || !element.isF32())
      return false;
    if (known.contains(value) || !asked.insert(value).second)
      return true;
    if (isa<hlo::ConstantOp>(op))
      return hasNumbersOnly(value);
    if (isa<hlo::MaxOp, hlo::MinOp, hlo::ClampOp>(op) && !isBesideNumbers(op))
      return false;
    return isArithmetic(op) && llvm::all_of(op->getOperands(), [&](Value each) {
             return find(each);
           });
  }

  /// Whether all operands of \p op but one are one number: what else is the
  /// greater of a NaN and a number has bits of both.
  static bool isBesideNumbers(Operation *op) {
    return llvm::count_if(op->getOperands(), [](Value operand) {
             auto spread = operand.getDefiningOp<hlo::BroadcastInDimOp>();
             return !isSplatConstant(spread ? spread.getOperand() : operand);
           }) <= 1;
  }

  /// Whether a NaN that \p op gives is one of an operand, or the machine's.
  static bool isArithmetic(Operation *op) {
    return isa<hlo::ConvertOp, hlo::AddOp, hlo::SubtractOp, hlo::MulOp,
               hlo::DivOp, hlo::NegOp, hlo::AbsOp, hlo::MaxOp, hlo::MinOp,
               hlo::ClampOp, hlo::SelectOp, hlo::SqrtOp, hlo::RsqrtOp,
               hlo::ReshapeOp, hlo::TransposeOp, hlo::BroadcastInDimOp,
               hlo::SliceOp, hlo::PadOp, hlo::ConcatenateOp, hlo::DotGeneralOp,
               ConvolutionOp, NarrowProductOp, PoolOp, PackOp, UnpackOp>(op);
  }

  llvm::DenseSet<Value> known, asked;
};

} // namespace

void cpu::sayWhatIsRounded(func::FuncOp function) {
  Provenance provenance;
  function.walk([&](hlo::ConvertOp op) {
    if (getElementTypeOrSelf(op.getType()).isBF16() &&
        getElementTypeOrSelf(op.getOperand().getType()).isF32() &&
        provenance.isOfBFloat16(op.getOperand()))
      op->setDiscardableAttr(ofBFloat16Attribute,
                             UnitAttr::get(op.getContext()));
  });
}
