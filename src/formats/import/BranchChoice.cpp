#include "formats/import/BranchChoice.h"

#include "graph/nn/NnAssume.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::formats {

void BranchChoice::tell(bool isFirst) const {
  if (decisions.onKnown)
    decisions.onKnown(place, isFirst);
}

std::optional<bool> BranchChoice::assume(Value condition) const {
  const auto chosen = decisions.takesFirst.find(place);
  if (chosen == decisions.takesFirst.end())
    return std::nullopt;
  StringAttr node = builder.builder().getStringAttr(place);
  if (auto name = builder.location()->findInstanceOf<NameLoc>())
    node = name.getName();
  builder.builder().create<nn::AssumeOp>(builder.location(), condition,
                                         chosen->second, node);
  return chosen->second;
}

void BranchChoice::ask() const {
  Operation *holder = builder.builder().getInsertionBlock()->getParentOp();
  if (builder.expandsUnknown() && decisions.onUndecided &&
      isa<func::FuncOp>(holder))
    decisions.onUndecided(place);
}

} // namespace sinter::formats
