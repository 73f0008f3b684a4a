#include "autodiff/WeightUses.h"

#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter::autodiff {

bool isVector(ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t size) { return size != 1; }) <= 1;
}

bool handsOn(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::ConvertOp,
             stablehlo::BroadcastInDimOp, stablehlo::ReverseOp,
             nn::BroadcastLikeOp>(op);
}

namespace {

/// The shape of a weight on the way to its uses.
struct Form {
  Value value;
  bool isVector;
  /// Whether elements were broadcast: the shape does not describe the weight
  /// then.
  bool isRepeated;
};

} // namespace

/// Whether \p use is the weight of a matmul, convolution or the like.
static bool isFactor(OpOperand &use) {
  Operation *op = use.getOwner();
  const unsigned number = use.getOperandNumber();
  return isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op) ||
         (isa<nn::LstmOp, nn::GruOp, nn::RnnOp>(op) &&
          (number == 1 || number == 2));
}

/// The form of the result if \p use only moves elements of \p form; nothing
/// where it computes with them.
static std::optional<Form> moved(const Form &form, OpOperand &use) {
  Operation *op = use.getOwner();
  const bool isPart = isa<stablehlo::SliceOp, stablehlo::ConcatenateOp>(op);
  const bool isRounded =
      isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp,
          nn::QuantizeOp>(op);
  if (!isPart && !isRounded && (!handsOn(op) || use.getOperandNumber() != 0))
    return std::nullopt;
  Form next = form;
  next.value = op->getResult(0);
  next.isRepeated |= isa<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(op);
  if (isa<stablehlo::ReshapeOp, stablehlo::SliceOp>(op) && !next.isRepeated)
    next.isVector = isVector(tensorOf(next.value).getShape());
  return next;
}

bool isDecayed(Value weight) {
  SmallVector<Form> forms = {
      {weight, isVector(tensorOf(weight).getShape()), /*isRepeated=*/false}};
  llvm::DenseSet<Value> seen;
  while (!forms.empty()) {
    const Form form = forms.pop_back_val();
    if (!seen.insert(form.value).second)
      continue;
    for (OpOperand &use : form.value.getUses()) {
      if (std::optional<Form> next = moved(form, use)) {
        forms.push_back(*next);
        continue;
      }
      const bool isRecurrent =
          isa<nn::LstmOp, nn::GruOp, nn::RnnOp>(use.getOwner());
      if (isFactor(use) || (!form.isVector && !isRecurrent))
        return true;
    }
  }
  return false;
}

} // namespace sinter::autodiff
