#include "passes/SimplifyAlgebra.h"

#include "passes/Pass.h"
#include "passes/RuleTables.h"

using namespace mlir;

namespace sinter {

namespace {
struct SimplifyAlgebra : LabelledPass<SimplifyAlgebra> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyAlgebra)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return "simplify-algebra"; }
  StringRef getDescription() const final { return "Apply identities"; }
  void runOnOperation() final {
    if (failed(
            applyRules(getOperation(), rulesOf(getArgument()), patternRun())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> createSimplifyAlgebra(std::shared_ptr<PatternRun> run) {
  return std::make_unique<SimplifyAlgebra>(std::move(run));
}

} // namespace sinter
