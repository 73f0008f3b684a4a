#include "graph/ElementUses.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

bool usesShapeOnly(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<nn::BroadcastLikeOp>(user))
    return use.getOperandNumber() > 0;
  return isa<nn::ShapeOp, GetDimensionSizeOp>(user);
}

OpOperand *soleElementUse(Value value) {
  OpOperand *sole = nullptr;
  for (OpOperand &use : value.getUses()) {
    if (usesShapeOnly(use))
      continue;
    if (sole)
      return nullptr;
    sole = &use;
  }
  return sole;
}

bool hasNoElementUse(Value value) {
  return llvm::all_of(value.getUses(), usesShapeOnly);
}

Value operandOfSameShape(Operation *op) {
  auto rankOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : -1;
  };
  auto interface = dyn_cast<AxesOpInterface>(op);
  // The axes of these operations follow from where their sizes come from, and
  // so from this function.
  if (!interface || op->getNumResults() != 1 ||
      isa<DynamicReshapeOp, DynamicBroadcastInDimOp>(op) ||
      llvm::none_of(op->getOperands(), [&](Value operand) {
        return rankOf(operand) == rankOf(op->getResult(0));
      }))
    return {};
  const Axes axes = interface.getAxes();
  Value found;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (rankOf(operand) != rankOf(op->getResult(0)) ||
        !axes.areAsLarge(axes.operands[i], axes.results[0]))
      continue;
    // Prefer an operand that is not itself an nn.broadcast_like.
    if (!operand.getDefiningOp<nn::BroadcastLikeOp>())
      return operand;
    if (!found)
      found = operand;
  }
  return found;
}

} // namespace sinter
