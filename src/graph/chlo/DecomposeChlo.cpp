#include "graph/chlo/DecomposeChlo.h"

#include "graph/chlo/ChloOps.h"

using namespace mlir;

namespace sinter {

void decomposeChlo(ModuleOp module) {
  // The regions of one that is replaced go into its replacement: after it.
  SmallVector<DecomposableOpInterface> found;
  module.walk([&](DecomposableOpInterface op) {
    if (isa_and_nonnull<chlo::ChloDialect>(op->getDialect()))
      found.push_back(op);
  });
  for (DecomposableOpInterface op : found) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.decompose(builder);
    if (failed(values))
      continue;
    op->replaceAllUsesWith(*values);
    op->erase();
  }
}

} // namespace sinter
