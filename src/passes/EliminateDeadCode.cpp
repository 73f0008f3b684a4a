#include "passes/EliminateDeadCode.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Groups.h"
#include "passes/Pass.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral deadCodeLabel = "eliminate-dead-code";

ArrayRef<PatternInfo> eliminateDeadCodePatterns() {
  static const PatternInfo infos[] = {
      {deadCodeLabel, "what nothing reads -> (nothing)", deadCodeLabel}};
  return infos;
}

namespace {
struct EliminateDeadCode : LabelledPass<EliminateDeadCode> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateDeadCode)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return deadCodeLabel; }
  StringRef getDescription() const final { return "Erase what nothing reads"; }

  void runOnOperation() final {
    if (!patternRun().isEnabled(deadCodeLabel))
      return;
    eraseOperations(*getOperation().getBody());
    eraseFunctions();
    groups.dissolve(getOperation());
  }

private:
  /// Backwards, so that readers go before what they read.
  void eraseOperations(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isOpTriviallyDead(&op)) {
        if (!isa<stablehlo::ConstantOp>(op))
          patternRun().count(deadCodeLabel);
        groups.touch(&op);
        op.erase();
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          eraseOperations(inner);
    }
  }

  void eraseFunctions() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto function :
           llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
        if (function.isPrivate() &&
            SymbolTable::symbolKnownUseEmpty(function, getOperation())) {
          patternRun().count(deadCodeLabel);
          function.erase();
          changed = true;
        }
    }
  }

  GroupTracker groups;
};
} // namespace

std::unique_ptr<Pass> createEliminateDeadCode(std::shared_ptr<PatternRun> run) {
  return std::make_unique<EliminateDeadCode>(std::move(run));
}

} // namespace sinter
