// Dimensions of dot_general and related operations.

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace sinter::stablehlo {

SmallVector<int64_t> ProductSide::free() const {
  const int64_t rank = tensorOf(value).getRank();
  llvm::SmallBitVector isTaken(rank);
  for (ArrayRef<int64_t> list : {batching, contracting})
    for (int64_t dimension : list)
      isTaken.set(dimension);
  SmallVector<int64_t> rest;
  for (int64_t i = 0; i < rank; ++i)
    if (!isTaken[i])
      rest.push_back(i);
  return rest;
}

ProductSide DotGeneralOp::getSide(unsigned operand) {
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  if (operand == 0)
    return {getLhs(), numbers.getLhsBatchingDimensions(),
            numbers.getLhsContractingDimensions()};
  return {getRhs(), numbers.getRhsBatchingDimensions(),
          numbers.getRhsContractingDimensions()};
}

} // namespace sinter::stablehlo
