#include "formats/onnx/write/WriterRules.h"

#include "llvm/ADT/StringMap.h"

namespace sinter::onnx {

const WriterRule *findWriterRule(llvm::StringRef op) {
  static const auto *rules = [] {
    auto *map = new llvm::StringMap<const WriterRule *>();
    for (WriterRules table :
         {elementwiseRules(), activationRules(), movementRules(),
          indexingRules(), reductionRules(), productRules(), poolingRules(),
          normalizationRules(), structuredRules(), controlFlowRules(),
          quantizedRules(), attentionRules(), stringRules()})
      for (const WriterRule &each : table)
        (*map)[each.op] = &each;
    return map;
  }();
  auto found = rules->find(op);
  return found == rules->end() ? nullptr : found->second;
}

} // namespace sinter::onnx
