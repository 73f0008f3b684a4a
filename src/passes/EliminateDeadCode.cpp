#include "passes/EliminateDeadCode.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Groups.h"
#include "passes/Pass.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral deadCodeLabel = "eliminate-dead-code";

ArrayRef<PatternInfo> eliminateDeadCodePatterns() {
  static const PatternInfo infos[] = {
      {deadCodeLabel, "dead code -> (nothing)", deadCodeLabel}};
  return infos;
}

namespace {
struct EliminateDeadCode : LabelledPass<EliminateDeadCode> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateDeadCode)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return deadCodeLabel; }
  StringRef getDescription() const final { return "Erase dead code"; }

  void runOnOperation() final {
    if (!patternRun().isEnabled(deadCodeLabel))
      return;
    eraseOperations(*getOperation().getBody());
    eraseFunctions();
    groups.dissolve(getOperation());
  }

private:
  /// Backwards, so that users are erased before their operands.
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

  /// Erases private functions that only such functions refer to.
  void eraseFunctions() {
    SymbolTable symbols(getOperation());
    SetVector<Operation *> live;
    for (Operation &op : *getOperation().getBody())
      if (auto function = dyn_cast<func::FuncOp>(op);
          !function || !function.isPrivate())
        live.insert(&op);
    for (size_t i = 0; i < live.size(); ++i) {
      auto uses = SymbolTable::getSymbolUses(live[i]);
      if (!uses)
        return;
      for (SymbolTable::SymbolUse use : *uses)
        if (Operation *named =
                symbols.lookup(use.getSymbolRef().getRootReference()))
          live.insert(named);
    }
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!live.contains(function)) {
        patternRun().count(deadCodeLabel);
        function.erase();
      }
  }

  GroupTracker groups;
};
} // namespace

std::unique_ptr<Pass> createEliminateDeadCode(std::shared_ptr<PatternRun> run) {
  return std::make_unique<EliminateDeadCode>(std::move(run));
}

} // namespace sinter
