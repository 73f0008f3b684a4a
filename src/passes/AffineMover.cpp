#include "passes/AffineMover.h"

#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

bool isOfNodeOf(Operation *op, Value value) {
  Operation *source = value.getDefiningOp();
  return source && sourceOf(op) && sourceOf(op) == sourceOf(source);
}

bool AffineMover::moveEach(llvm::function_ref<bool(Operation *)> move) {
  SmallVector<Operation *> steps;
  function.walk([&](Operation *op) {
    if (isa<BatchNormInferenceOp, MulOp, DivOp, AddOp, SubtractOp>(op))
      steps.push_back(op);
  });
  erased.clear();
  bool moved = false;
  for (Operation *op : steps)
    moved |= !erased.contains(op) && move(op);
  return moved;
}

std::optional<AffineStep> AffineMover::movableStep(Operation *op) {
  if (!run.mayStep() || !planner.mayChange(op))
    return std::nullopt;
  auto step = affineStep(op);
  if (!step || step->affine.dimensions.empty() || isBias(*step) ||
      hasNoElementUse(op->getResult(0)) ||
      followsFromConstants(op->getResult(0)) ||
      step->from.getParentBlock() != op->getBlock())
    return std::nullopt;
  return step;
}

void AffineMover::replaceUses(Operation *op, Value by) {
  groups.touch(op);
  op->getResult(0).replaceAllUsesWith(by);
  replaced.insert(op);
}

std::optional<Value> AffineMover::foldedConstant(OpBuilder &builder,
                                                 Value constant, Value placed) {
  const std::optional<Tensor> tensor = constantValue(placed);
  if (!tensor)
    return std::nullopt;
  replaced.insert(placed.getDefiningOp());
  return makeConstant(builder, constant.getLoc(), *tensor,
                      constantName(constant));
}

void AffineMover::eraseDead(llvm::function_ref<void(Operation *)> erasing) {
  while (!replaced.empty()) {
    Operation *each = replaced.pop_back_val();
    // The planner knows the products.
    if (isa<ChannelwiseAffineOpInterface>(each) || !isOpTriviallyDead(each))
      continue;
    for (Value operand : each->getOperands())
      if (Operation *source = operand.getDefiningOp())
        replaced.insert(source);
    erased.insert(each);
    if (erasing)
      erasing(each);
    groups.touch(each);
    each->erase();
  }
}

} // namespace sinter
