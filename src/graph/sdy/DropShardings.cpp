#include "graph/sdy/DropShardings.h"

using namespace mlir;

namespace sinter::sdy {

bool isOnWholeTensors(ManualComputationOp op) {
  Block &body = op.getBody().front();
  return op.getOperandTypes() == TypeRange(body.getArgumentTypes()) &&
         op.getResultTypes() == body.getTerminator()->getOperandTypes();
}

static void inlineBody(ManualComputationOp op) {
  Block &body = op.getBody().front();
  Operation *end = body.getTerminator();
  op->replaceAllUsesWith(end->getOperands());
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), op.getTensors()))
    argument.replaceAllUsesWith(operand);
  end->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op->erase();
}

/// Drops attributes of unregistered dialects.
static void dropForeignAttributes(Operation *op) {
  auto isForeign = [](Attribute attribute) {
    return attribute.walk([](OpaqueAttr) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  SmallVector<StringAttr> foreign;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (isForeign(attribute.getValue()))
      foreign.push_back(attribute.getName());
  for (StringAttr name : foreign)
    op->removeDiscardableAttr(name);
}

void dropShardings(ModuleOp module) {
  module.walk([](Operation *op) {
    dropForeignAttributes(op);
    if (isa<ShardingConstraintOp, ReshardOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    } else if (isa<ShardingGroupOp>(op)) {
      op->erase();
    } else if (auto manual = dyn_cast<ManualComputationOp>(op);
               manual && isOnWholeTensors(manual)) {
      inlineBody(manual);
    }
  });
}

} // namespace sinter::sdy
