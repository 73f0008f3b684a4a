#include "formats/paddle/write/WriterRules.h"

#include "llvm/ADT/StringMap.h"

namespace sinter::paddle {

const WriterRule *findWriterRule(llvm::StringRef op) {
  static const auto *table = [] {
    auto *map = new llvm::StringMap<const WriterRule *>();
    for (WriterRules rules :
         {activationRules(), convolutionRules(), elementwiseRules(),
          indexingRules(), movementRules(), normalizationRules(),
          poolingRules(), productRules(), quantizedRules(), reductionRules(),
          windowRules()})
      for (const WriterRule &rule : rules)
        (*map)[rule.op] = &rule;
    return map;
  }();
  return table->lookup(op);
}

} // namespace sinter::paddle
