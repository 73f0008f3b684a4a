//===- RulePass.h - a pass that is tables of rules ------------------------===//

#ifndef SINTER_PASSES_RULEPASS_H
#define SINTER_PASSES_RULEPASS_H

#include "passes/Pass.h"
#include "passes/RewriteRule.h"

namespace sinter {

using RuleList = llvm::SmallVector<llvm::ArrayRef<RewriteRule>>;

/// Applies the rules of \p Derived's tables() to a fixpoint.
template <typename Derived> class RulePass : public LabelledPass<Derived> {
public:
  using LabelledPass<Derived>::LabelledPass;
  void runOnOperation() final {
    const RuleList tables = static_cast<const Derived *>(this)->tables();
    if (failed(applyRules(this->getOperation(), tables, this->patternRun())))
      this->signalPassFailure();
  }
};

} // namespace sinter

#endif // SINTER_PASSES_RULEPASS_H
