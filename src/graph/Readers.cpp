#include "graph/Readers.h"

#include "graph/Types.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

bool readsShapeOnly(OpOperand &use) {
  Operation *reader = use.getOwner();
  if (isa<nn::BroadcastLikeOp>(reader))
    return use.getOperandNumber() > 0;
  return isa<nn::ShapeOp, GetDimensionSizeOp>(reader);
}

OpOperand *soleReading(Value value) {
  OpOperand *sole = nullptr;
  for (OpOperand &use : value.getUses()) {
    if (readsShapeOnly(use))
      continue;
    if (sole)
      return nullptr;
    sole = &use;
  }
  return sole;
}

bool isUnread(Value value) {
  return llvm::all_of(value.getUses(), readsShapeOnly);
}

/// Whether the other tensors alone make the shape of the result: each size of
/// the operand is 1, or what the other has there, too.
static bool addsNothing(nn::BroadcastLikeOp op) {
  auto from = tensorOf(op.getOperand());
  if (op.getOthers().size() != 1)
    return false;
  auto other = tensorOf(op.getOthers().front());
  int64_t missing = other.getRank() - from.getRank();
  if (missing < 0)
    return false;
  for (auto [i, size] : llvm::enumerate(from.getShape()))
    if (size != 1 &&
        (ShapedType::isDynamic(size) || other.getDimSize(missing + i) != size))
      return false;
  return true;
}

Value operandOfSameShape(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return {};
  if (auto like = dyn_cast<nn::BroadcastLikeOp>(op))
    return addsNothing(like) ? Value(like.getOthers().front()) : Value();
  if (isa<BatchNormInferenceOp>(op))
    return op->getOperand(0);
  if (auto select = dyn_cast<SelectOp>(op))
    return select.getOnTrue();
  if (auto clamp = dyn_cast<ClampOp>(op))
    return clamp.getOperand();
  if (!op->hasTrait<OpTrait::SameOperandsAndResultShape>() &&
      !op->hasTrait<OpTrait::Elementwise>())
    return {};
  // Of several one that is no broadcast beside another.
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<nn::BroadcastLikeOp>())
      return operand;
  return op->getOperand(0);
}

} // namespace sinter
