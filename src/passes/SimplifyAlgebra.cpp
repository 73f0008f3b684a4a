#include "passes/SimplifyAlgebra.h"

#include "passes/RulePass.h"
#include "passes/RuleTables.h"

using namespace mlir;

namespace sinter {

namespace {
struct SimplifyAlgebra : RulePass<SimplifyAlgebra> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyAlgebra)
  using RulePass::RulePass;
  StringRef getArgument() const final { return "simplify-algebra"; }
  StringRef getDescription() const final { return "Apply identities"; }
  RuleList tables() const { return rulesOf(getArgument()); }
};
} // namespace

std::unique_ptr<Pass> createSimplifyAlgebra(std::shared_ptr<PatternRun> run) {
  return std::make_unique<SimplifyAlgebra>(std::move(run));
}

} // namespace sinter
