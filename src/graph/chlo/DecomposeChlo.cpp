#include "graph/chlo/DecomposeChlo.h"

#include "graph/chlo/ChloOps.h"

using namespace mlir;

namespace sinter {

bool decomposeChlo(ModuleOp module) {
  // A replaced operation's regions move into its replacement, so nested ones
  // come after it.
  SmallVector<DecomposableOpInterface> found;
  module.walk([&](DecomposableOpInterface op) {
    if (isa_and_nonnull<chlo::ChloDialect>(op->getDialect()))
      found.push_back(op);
  });
  bool changed = false;
  for (DecomposableOpInterface op : found) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.decompose(builder);
    if (failed(values))
      continue;
    op->replaceAllUsesWith(*values);
    op->erase();
    changed = true;
  }
  return changed;
}

} // namespace sinter
