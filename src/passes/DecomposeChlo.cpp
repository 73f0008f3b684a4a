#include "passes/DecomposeChlo.h"

#include "graph/chlo/DecomposeChlo.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter {

namespace {
struct DecomposeChlo : PassWrapper<DecomposeChlo, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposeChlo)
  StringRef getArgument() const final { return "decompose-chlo"; }
  StringRef getDescription() const final {
    return "Decompose chlo operations into stablehlo";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<stablehlo::StablehloDialect>();
  }
  void runOnOperation() final { decomposeChlo(getOperation()); }
};
} // namespace

std::unique_ptr<Pass> createDecomposeChlo() {
  return std::make_unique<DecomposeChlo>();
}

} // namespace sinter
