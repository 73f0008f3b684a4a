#include "formats/paddle/Operators.h"

#include "llvm/ADT/StringMap.h"

namespace sinter::paddle {

llvm::ArrayRef<OperatorReaders (*)()> operatorTables() {
  static constexpr OperatorReaders (*tables[])() = {
      activationReaders,   constantReaders,      controlFlowReaders,
      convolutionReaders,  deformableReaders,    detectionReaders,
      elementwiseReaders,  indexingReaders,      levelOfDetailReaders,
      movementReaders,     normalizationReaders, pixelReaders,
      poolingReaders,      productReaders,       proposalReaders,
      quantizationReaders, randomReaders,        recurrentReaders,
      reductionReaders,    repeatingReaders,     resizeReaders,
      samplingReaders,     shapeReaders,         slicingReaders,
      suppressionReaders,
  };
  return tables;
}

const OperatorReader *findOperator(llvm::StringRef name) {
  static const llvm::StringMap<const OperatorReader *> byName = [] {
    llvm::StringMap<const OperatorReader *> map;
    for (auto table : operatorTables())
      for (const OperatorReader &row : table())
        map[row.name] = &row;
    return map;
  }();
  return byName.lookup(name);
}

} // namespace sinter::paddle
