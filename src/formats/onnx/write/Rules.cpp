#include "formats/onnx/write/Rules.h"

#include "llvm/ADT/StringMap.h"

namespace sinter::onnx {

const Rule *findRule(llvm::StringRef op) {
  static const auto *rules = [] {
    auto *map = new llvm::StringMap<const Rule *>();
    for (Rules table : {elementwiseRules(), activationRules(), movementRules(),
                        indexingRules(), reductionRules(), productRules(),
                        poolingRules(), normalizationRules(), structuredRules(),
                        controlFlowRules(), quantizedRules()})
      for (const Rule &each : table)
        (*map)[each.op] = &each;
    return map;
  }();
  auto found = rules->find(op);
  return found == rules->end() ? nullptr : found->second;
}

} // namespace sinter::onnx
