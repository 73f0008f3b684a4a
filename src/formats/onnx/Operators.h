//===- Operators.h - the operators that can be read -----------------------===//
//
// One row per operator. The files below ops/ each hold a family and its table.
// The importer function distinguishes versions by NodeContext::version().
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPERATORS_H
#define SINTER_FORMATS_ONNX_OPERATORS_H

#include "formats/onnx/file/Domain.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace sinter::onnx {

class NodeContext;

/// Any number of inputs.
inline constexpr int anyNumber = 1 << 20;

struct Operator {
  llvm::StringRef name;
  /// "" is ai.onnx.
  llvm::StringRef domain;
  /// The oldest opset version of the operator that is supported.
  int since;
  llvm::LogicalResult (*import)(NodeContext &node);
  /// The number of leading inputs that are required, and the maximum number.
  int minInputs;
  int maxInputs;
  /// Whether inputs may be sequences or empty optionals.
  bool takesAnyValue = false;
  /// Whether passes leave its nodes alone in a graph that is written again:
  /// ONNX has no other form of it, or runtimes look for such nodes.
  bool staysWhole = false;
};

/// The operator, or null.
const Operator *findOperator(llvm::StringRef domain, llvm::StringRef name);
/// Whether ONNX itself has an operator that is called \p name in opset
/// \p version of \p domain; those that only ONNX Runtime has in ONNX's domain
/// are not.
bool isStandardOperator(llvm::StringRef domain, llvm::StringRef name,
                        int64_t version);
/// Whether inputs of the operator may be strings.
bool takesStrings(const Operator &op);
/// All operators, sorted by domain and name.
llvm::ArrayRef<Operator> allOperators();

// The families' tables, one function a file below ops/.
llvm::ArrayRef<Operator> convolutionOperators();
llvm::ArrayRef<Operator> productOperators();
llvm::ArrayRef<Operator> quantizationOperators();
llvm::ArrayRef<Operator> normalizationOperators();
llvm::ArrayRef<Operator> poolingOperators();
llvm::ArrayRef<Operator> recurrentOperators();
llvm::ArrayRef<Operator> shapeOperators();
llvm::ArrayRef<Operator> slicingOperators();
llvm::ArrayRef<Operator> castOperators();
llvm::ArrayRef<Operator> constantOperators();
llvm::ArrayRef<Operator> controlFlowOperators();

llvm::ArrayRef<Operator> activationOperators();
llvm::ArrayRef<Operator> attentionOperators();
llvm::ArrayRef<Operator> decodingOperators();
llvm::ArrayRef<Operator> detectionOperators();
llvm::ArrayRef<Operator> determinantOperators();
llvm::ArrayRef<Operator> einsumOperators();
llvm::ArrayRef<Operator> elementwiseOperators();
llvm::ArrayRef<Operator> formerOperators();
llvm::ArrayRef<Operator> featureOperators();
llvm::ArrayRef<Operator> fourierOperators();
llvm::ArrayRef<Operator> gatherScatterOperators();
llvm::ArrayRef<Operator> keyTableOperators();
llvm::ArrayRef<Operator> linearModelOperators();
llvm::ArrayRef<Operator> imageOperators();
llvm::ArrayRef<Operator> lossOperators();
llvm::ArrayRef<Operator> mapOperators();
llvm::ArrayRef<Operator> nGramOperators();
llvm::ArrayRef<Operator> optimizerOperators();
llvm::ArrayRef<Operator> randomOperators();
llvm::ArrayRef<Operator> rearrangingOperators();
llvm::ArrayRef<Operator> reductionOperators();
llvm::ArrayRef<Operator> resizingOperators();
llvm::ArrayRef<Operator> runtimeAttentionOperators();
llvm::ArrayRef<Operator> runtimeBeamSearchOperators();
llvm::ArrayRef<Operator> runtimeCachedAttentionOperators();
llvm::ArrayRef<Operator> runtimeExpertOperators();
llvm::ArrayRef<Operator> runtimeFusedOperators();
llvm::ArrayRef<Operator> runtimeGateOperators();
llvm::ArrayRef<Operator> runtimeLowBitOperators();
llvm::ArrayRef<Operator> runtimeOtherOperators();
llvm::ArrayRef<Operator> runtimeProductOperators();
llvm::ArrayRef<Operator> runtimeQuantizedLayerOperators();
llvm::ArrayRef<Operator> runtimeQuantizedOperators();
llvm::ArrayRef<Operator> runtimeSearchOperators();
llvm::ArrayRef<Operator> samplingOperators();
llvm::ArrayRef<Operator> sequenceOperators();
llvm::ArrayRef<Operator> treeEnsembleOperators();
llvm::ArrayRef<Operator> stringOperators();
llvm::ArrayRef<Operator> uniqueOperators();
llvm::ArrayRef<Operator> unpoolingOperators();
llvm::ArrayRef<Operator> windowOperators();

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPERATORS_H
