#include "passes/Groups.h"

namespace sinter {

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
