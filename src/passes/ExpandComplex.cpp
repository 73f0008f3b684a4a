#include "passes/ExpandComplex.h"

#include "graph/chlo/ExpandComplex.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace sinter {

namespace {
struct ExpandComplex : PassWrapper<ExpandComplex, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandComplex)
  StringRef getArgument() const final { return "expand-complex"; }
  StringRef getDescription() const final {
    return "Expand complex functions to real arithmetic";
  }
  void runOnOperation() final {
    SmallVector<Operation *> all;
    getOperation().walk([&](Operation *op) { all.push_back(op); });
    for (Operation *op : all) {
      OpBuilder builder(op);
      FailureOr<Value> result = expandComplex(op, builder);
      if (failed(result))
        continue;
      op->getResult(0).replaceAllUsesWith(*result);
      op->erase();
    }
  }
};
} // namespace

std::unique_ptr<Pass> createExpandComplex() {
  return std::make_unique<ExpandComplex>();
}

} // namespace sinter
