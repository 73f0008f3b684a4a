//===- Operators.h - the operators that can be read -----------------------===//
//
// One row per operator, by its name in the older vocabulary (file/Program.h).
// The files below ops/ each hold a family and its table. Names of several
// generations (`reshape`, `reshape2`) are separate rows that may share a
// function.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_OPERATORS_H
#define SINTER_FORMATS_PADDLE_OPERATORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace sinter::paddle {

class OperatorContext;

struct OperatorReader {
  llvm::StringRef name;
  llvm::LogicalResult (*import)(OperatorContext &op);
  /// Whether passes leave its ops alone, also those that depend only on
  /// constants: decomposed, they could not be written as operators.
  bool staysWhole = false;
  /// Whether it uses one of its operands, and the others may be missing.
  bool readsOneOf = false;
};
using OperatorReaders = llvm::ArrayRef<OperatorReader>;

OperatorReaders activationReaders();
OperatorReaders constantReaders();
OperatorReaders controlFlowReaders();
OperatorReaders convolutionReaders();
OperatorReaders deformableReaders();
OperatorReaders detectionReaders();
OperatorReaders elementwiseReaders();
OperatorReaders indexingReaders();
OperatorReaders levelOfDetailReaders();
OperatorReaders movementReaders();
OperatorReaders normalizationReaders();
OperatorReaders pixelReaders();
OperatorReaders poolingReaders();
OperatorReaders productReaders();
OperatorReaders proposalReaders();
OperatorReaders quantizationReaders();
OperatorReaders randomReaders();
OperatorReaders recurrentReaders();
OperatorReaders reductionReaders();
OperatorReaders repeatingReaders();
OperatorReaders resizeReaders();
OperatorReaders samplingReaders();
OperatorReaders shapeReaders();
OperatorReaders slicingReaders();
OperatorReaders suppressionReaders();

/// The tables above, in their order.
llvm::ArrayRef<OperatorReaders (*)()> operatorTables();

/// The operator called \p name; null if it is not known.
const OperatorReader *findOperator(llvm::StringRef name);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPERATORS_H
