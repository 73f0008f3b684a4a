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
  const auto chosen = decided.find(place);
  if (chosen == decided.end())
    return std::nullopt;
  StringAttr node = builder.builder().getStringAttr(place);
  if (auto name = builder.location()->findInstanceOf<NameLoc>())
    node = name.getName();
  builder.builder().create<nn::AssumeOp>(builder.location(), condition,
                                         chosen->second, node);
  return chosen->second;
}

bool BranchChoice::decide() {
  Operation *holder = builder.builder().getInsertionBlock()->getParentOp();
  if (!builder.expandsUnknown() || !decisions.decide ||
      !isa<func::FuncOp>(holder))
    return false;
  const std::optional<bool> isFirst = decisions.decide(place);
  if (isFirst)
    decided[place] = *isFirst;
  return isFirst.has_value();
}

} // namespace sinter::formats
