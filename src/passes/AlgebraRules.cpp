#include "passes/AlgebraRules.h"

#include "passes/ResolveShapes.h"

namespace sinter {

llvm::ArrayRef<llvm::ArrayRef<Rule>> algebraRules() {
  static const llvm::ArrayRef<Rule> tables[] = {
      elementwiseRules(), logicRules(),         conversionRules(),
      movementRules(),    rearrangementRules(), indexingRules(),
      emptyRules(),       reductionRules(),     controlRules(),
      recurrentRules(),   modernRules(),        dynamicRules(),
      shapeRules()};
  return tables;
}

} // namespace sinter
