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

WholeNodes::WholeNodes(mlir::ModuleOp module) {
  auto list =
      module->getAttrOfType<mlir::DenseI64ArrayAttr>(wholeNodesAttribute);
  if (!list)
    return;
  isGiven = true;
  numbers.insert(list.asArrayRef().begin(), list.asArrayRef().end());
}

bool WholeNodes::contains(mlir::Operation *op) const {
  if (numbers.empty())
    return false;
  auto group = op->getAttrOfType<mlir::IntegerAttr>(groupAttribute);
  return group && numbers.contains(group.getInt());
}

bool WholeNodes::isInside(
    mlir::Value value,
    const llvm::SmallPtrSetImpl<mlir::Operation *> &others) const {
  mlir::Operation *op = value.getDefiningOp();
  if (!op || !contains(op))
    return false;
  mlir::Attribute group = op->getAttr(groupAttribute);
  return llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
    return others.contains(user) || user->getAttr(groupAttribute) == group;
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
