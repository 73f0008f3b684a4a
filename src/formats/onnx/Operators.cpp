#include "formats/onnx/Operators.h"

#include "llvm/ADT/STLExtras.h"
#include <vector>

namespace sinter::onnx {

static std::vector<Operator> collect() {
  std::vector<Operator> all;
  for (auto table : {
           activationOperators,
           attentionOperators,
           castOperators,
           constantOperators,
           controlFlowOperators,
           convolutionOperators,
           decodingOperators,
           detectionOperators,
           determinantOperators,
           einsumOperators,
           elementwiseOperators,
           fourierOperators,
           gatherScatterOperators,
           lossOperators,
           nGramOperators,
           normalizationOperators,
           optimizerOperators,
           poolingOperators,
           productOperators,
           quantizationOperators,
           randomOperators,
           rearrangingOperators,
           recurrentOperators,
           reductionOperators,
           resizingOperators,
           runtimeFusedOperators,
           runtimeQuantizedOperators,
           samplingOperators,
           sequenceOperators,
           shapeOperators,
           slicingOperators,
           uniqueOperators,
           unpoolingOperators,
           windowOperators,
       })
    llvm::append_range(all, table());
  llvm::sort(all, [](const Operator &a, const Operator &b) {
    return std::pair(a.domain, a.name) < std::pair(b.domain, b.name);
  });
  return all;
}

llvm::ArrayRef<Operator> allOperators() {
  static const std::vector<Operator> all = collect();
  return all;
}

const Operator *findOperator(llvm::StringRef domain, llvm::StringRef name) {
  auto all = allOperators();
  auto found = llvm::partition_point(all, [&](const Operator &op) {
    return std::pair(op.domain, op.name) < std::pair(domain, name);
  });
  bool match =
      found != all.end() && found->domain == domain && found->name == name;
  return match ? &*found : nullptr;
}

} // namespace sinter::onnx
