#include "formats/onnx/Operators.h"

#include "formats/onnx/file/Domain.h"
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
           featureOperators,
           formerOperators,
           fourierOperators,
           gatherScatterOperators,
           keyTableOperators,
           linearModelOperators,
           imageOperators,
           lossOperators,
           mapOperators,
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
           runtimeAttentionOperators,
           runtimeBeamSearchOperators,
           runtimeCachedAttentionOperators,
           runtimeExpertOperators,
           runtimeFusedOperators,
           runtimeGateOperators,
           runtimeLowBitOperators,
           runtimeOtherOperators,
           runtimeProductOperators,
           runtimeQuantizedLayerOperators,
           runtimeQuantizedOperators,
           runtimeSearchOperators,
           samplingOperators,
           sequenceOperators,
           shapeOperators,
           slicingOperators,
           stringOperators,
           treeEnsembleOperators,
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

bool isStandardOperator(llvm::StringRef domain, llvm::StringRef name,
                        int64_t version) {
  if (!isStandardDomain(domain))
    return domain == mlDomain;
  // The version from which on it is ONNX's own.
  static constexpr std::pair<llvm::StringLiteral, int64_t> since[] = {
      {"LayerNormalization", 17}, {"MeanVarianceNormalization", 9}};
  static constexpr llvm::StringLiteral never[] = {
      "Affine",
      "ConstantFill",
      "Crop",
      "DynamicSlice",
      "ImageScaler",
      "GivenTensorFill",
      "Scale",
      "ScaledTanh",
      "ParametricSoftplus",
      "SimplifiedLayerNormalization"};
  for (const auto &[operation, first] : since)
    if (name == operation)
      return version >= first;
  return !llvm::is_contained(never, name);
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
