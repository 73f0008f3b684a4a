#include "passes/Groups.h"

namespace sinter {

bool isPartOfNode(mlir::Operation *op) {
  mlir::Attribute group = op->getDiscardableAttr(groupAttribute);
  return group && llvm::any_of(op->getOperands(), [&](mlir::Value operand) {
           mlir::Operation *definition = operand.getDefiningOp();
           return definition &&
                  definition->getDiscardableAttr(groupAttribute) == group;
         });
}

void GroupTracker::dissolve(mlir::Operation *root) {
  if (touched.empty())
    return;
  root->walk([&](mlir::Operation *op) {
    if (mlir::Attribute group = op->getDiscardableAttr(groupAttribute))
      if (touched.contains(group))
        op->removeDiscardableAttr(groupAttribute);
  });
  touched.clear();
}

} // namespace sinter
