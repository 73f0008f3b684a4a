// Constraints of operations that move elements.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getIotaDimension()) >=
      cast<RankedTensorType>(getType()).getRank())
    return emitOpError("(C1) iota_dimension is not a dimension of the result");
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (static_cast<int64_t>(dimensions.size()) != from.getRank())
    return emitOpError("(C2) broadcast_dimensions has not one element a "
                       "dimension of the operand");
  if (!isDistinctWithin(dimensions, to.getRank()))
    return emitOpError("(C3, C4) broadcast_dimensions are not distinct "
                       "dimensions of the result");
  for (auto [index, dimension] : llvm::enumerate(dimensions))
    if (from.getDimSize(index) != 1 &&
        differ(from.getDimSize(index), to.getDimSize(dimension)))
      return emitOpError("(C5) dimension ")
             << index << " of the operand has size " << from.getDimSize(index)
             << ", neither 1 nor the result's " << to.getDimSize(dimension);
  if (from.getElementType() != to.getElementType() &&
      !isa<quant::QuantizedType>(to.getElementType()))
    return emitOpError("(C1) operand and result differ in element type");
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  if (from.getElementType() != to.getElementType() &&
      !isa<quant::QuantizedType>(to.getElementType()))
    return emitOpError("(C1) operand and result differ in element type");
  if (from.hasStaticShape() && to.hasStaticShape() &&
      elementCount(from.getShape()) != elementCount(to.getShape()))
    return emitOpError("(C2) operand and result differ in the number of "
                       "elements");
  return success();
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty() || getResults().size() != getInputs().size())
    return emitOpError("(C1) needs as many results as inputs, at least one");
  auto numbers = getScatterDimensionNumbers();
  auto input = tensorOf(getInputs()[0]),
       indices = tensorOf(getScatterIndices());
  auto update = tensorOf(getUpdates()[0]);
  int64_t rank = input.getRank();
  int64_t vectorDim = numbers.getIndexVectorDim();
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return emitOpError("(C22) index_vector_dim is not a dimension of "
                       "scatter_indices");
  int64_t indexSize =
      vectorDim == indices.getRank() ? 1 : indices.getDimSize(vectorDim);
  if (differ(indexSize, numbers.getScatterDimsToOperandDims().size()))
    return emitOpError("(C19) scatter_dims_to_operand_dims has not one element "
                       "an index component");
  if (!isDistinctWithin(numbers.getUpdateWindowDims(), update.getRank()) ||
      !isDistinctWithin(numbers.getInsertedWindowDims(), rank) ||
      !isDistinctWithin(numbers.getInputBatchingDims(), rank) ||
      !isDistinctWithin(numbers.getScatterDimsToOperandDims(), rank) ||
      !isDistinctWithin(numbers.getScatterIndicesBatchingDims(),
                        indices.getRank()) ||
      numbers.getInputBatchingDims().size() !=
          numbers.getScatterIndicesBatchingDims().size())
    return emitOpError("(C7 to C21) the dimension numbers are not distinct "
                       "dimensions");
  if (rank != static_cast<int64_t>(numbers.getUpdateWindowDims().size() +
                                   numbers.getInsertedWindowDims().size() +
                                   numbers.getInputBatchingDims().size()))
    return emitOpError("(C2) the window's, inserted and batching dimensions "
                       "are not the input's");
  int64_t scatterRank = indices.getRank() - (vectorDim < indices.getRank());
  if (update.getRank() !=
      scatterRank + static_cast<int64_t>(numbers.getUpdateWindowDims().size()))
    return emitOpError("(C4) the updates' rank does not fit");
  // The scatter dimensions of the updates are those of the indices, and a
  // window is not larger than the input.
  int64_t indexDim = 0, inputDim = 0;
  for (int64_t i = 0; i < update.getRank(); ++i) {
    if (llvm::is_contained(numbers.getUpdateWindowDims(), i)) {
      while (llvm::is_contained(numbers.getInsertedWindowDims(), inputDim) ||
             llvm::is_contained(numbers.getInputBatchingDims(), inputDim))
        ++inputDim;
      if (!input.isDynamicDim(inputDim) && !update.isDynamicDim(i) &&
          update.getDimSize(i) > input.getDimSize(inputDim))
        return emitOpError("(C4) a window is larger than the input");
      ++inputDim;
    } else {
      indexDim += indexDim == vectorDim;
      if (differ(update.getDimSize(i), indices.getDimSize(indexDim++)))
        return emitOpError("(C4) the updates do not match the indices");
    }
  }
  for (auto [value, result, each] :
       llvm::zip_equal(getInputs(), getResults(), getUpdates()))
    if (failed(verifyCompatibleShape(tensorOf(value), tensorOf(result))) ||
        failed(verifyCompatibleShape(tensorOf(value), input)) ||
        failed(verifyCompatibleShape(tensorOf(each), update)) ||
        tensorOf(each).getElementType() != tensorOf(value).getElementType())
      return emitOpError("(C1, C3, C6, C24) inputs, updates and results do not "
                         "match");
  return verifyReductionRegion(*this, getUpdateComputation(),
                               getInputs().getTypes(), getResultTypes(),
                               "(C23)");
}

LogicalResult SortOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C1) needs as many results as inputs, at least one");
  int64_t rank = tensorOf(getInputs()[0]).getRank();
  int64_t dimension = getDimension();
  if (dimension < -rank || dimension >= rank)
    return emitOpError("(C4) dimension is not one of the inputs'");
  SmallVector<Type> arguments;
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (!compatibleTypes(input.getType(), result.getType()))
      return emitOpError("(C2) results differ from inputs in type");
    arguments.append(2, input.getType());
  }
  Type predicate = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifyScalarRegion(*this, getComparator(), arguments, predicate,
                            "(C5)");
}

} // namespace sinter::stablehlo
