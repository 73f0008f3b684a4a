#include "graph/Readers.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
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

Value operandOfSameShape(Operation *op) {
  auto rankOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : -1;
  };
  auto interface = dyn_cast<AxesOpInterface>(op);
  // Which axes these have follows from where their sizes come from, and so
  // from this.
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
    // Of several one that is no broadcast beside another.
    if (!operand.getDefiningOp<nn::BroadcastLikeOp>())
      return operand;
    if (!found)
      found = operand;
  }
  return found;
}

} // namespace sinter
