// Constraints of operations that move elements.

#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

LogicalResult verifyPerAxisReshape(Operation *op, RankedTensorType from,
                                   RankedTensorType to) {
  auto lhs =
      dyn_cast<quant::UniformQuantizedPerAxisType>(from.getElementType());
  auto rhs = dyn_cast<quant::UniformQuantizedPerAxisType>(to.getElementType());
  if (!lhs || !rhs)
    return success();
  // The sizes before, along and after the axis stay.
  auto parts = [](RankedTensorType type, int64_t axis) {
    ArrayRef<int64_t> shape = type.getShape();
    return std::array{countElements(shape.take_front(axis)),
                      countElements(shape.slice(axis, 1)),
                      countElements(shape.drop_front(axis + 1))};
  };
  for (auto [one, other] : llvm::zip(parts(from, lhs.getQuantizedDimension()),
                                     parts(to, rhs.getQuantizedDimension())))
    if (one && other && *one != *other)
      return op->emitOpError("(C3) the quantised axis, or what lies before or "
                             "after it, has another size in the result");
  return success();
}

LogicalResult verifyBroadcast(Operation *op, Value operand, Value result,
                              ArrayRef<int64_t> dimensions) {
  auto from = tensorOf(operand), to = tensorOf(result);
  if (failed(verifyMovedElements(op, operand, result, /*keepsScales=*/false)))
    return failure();
  if (static_cast<int64_t>(dimensions.size()) != from.getRank())
    return op->emitOpError("(C2) broadcast_dimensions has not one element a "
                           "dimension of the operand");
  if (!isWithin(dimensions, to.getRank()))
    return op->emitOpError("(C3) broadcast_dimensions are not dimensions of "
                           "the result");
  if (!isUnique(dimensions))
    return op->emitOpError("(C4) a dimension stands twice in "
                           "broadcast_dimensions");
  for (auto [index, dimension] : llvm::enumerate(dimensions))
    if (from.getDimSize(index) != 1 &&
        differ(from.getDimSize(index), to.getDimSize(dimension)))
      return op->emitOpError("(C5) dimension ")
             << index << " of the operand has size " << from.getDimSize(index)
             << ", neither 1 nor the result's " << to.getDimSize(dimension);
  auto lhs =
      dyn_cast<quant::UniformQuantizedPerAxisType>(from.getElementType());
  auto rhs = dyn_cast<quant::UniformQuantizedPerAxisType>(to.getElementType());
  if (!lhs || !rhs)
    return success();
  int64_t axis = lhs.getQuantizedDimension();
  if (rhs.getQuantizedDimension() != dimensions[axis])
    return op->emitOpError("(C6) the result is not quantised along the axis to "
                           "which the operand's goes");
  bool repeats = from.getDimSize(axis) == 1;
  bool fits = repeats
                  ? llvm::all_of(rhs.getScales(),
                                 [&](double scale) {
                                   return scale == lhs.getScales()[0];
                                 }) &&
                        llvm::all_of(rhs.getZeroPoints(),
                                     [&](int64_t point) {
                                       return point == lhs.getZeroPoints()[0];
                                     })
                  : lhs.getScales() == rhs.getScales() &&
                        lhs.getZeroPoints() == rhs.getZeroPoints();
  if (!fits)
    return op->emitOpError("(C6) the result's scales and zero points are not "
                           "the operand's");
  return success();
}

/// Checks that the sizes of a result are static or symbolic, or that one is
/// dynamic and has a bound.
static LogicalResult verifyKnownSizes(Operation *op, Value result) {
  auto type = tensorOf(result);
  if (type.hasStaticShape() || hasNamedSizes(type))
    return success();
  auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(type.getEncoding());
  bool isBounded = extensions && type.getNumDynamicDims() == 1;
  for (int64_t i = 0; isBounded && i < type.getRank(); ++i)
    isBounded = !type.isDynamicDim(i) ||
                !ShapedType::isDynamic(extensions.getBounds()[i]);
  if (!isBounded)
    return op->emitOpError("the result is neither of a static shape nor of one "
                           "bounded dimension: ")
           << type;
  return success();
}

LogicalResult ConstantOp::verify() {
  quant::QuantizedType type = quantizedOf(getType());
  const IntegerBounds bounds = type ? boundsOf(type) : IntegerBounds();
  if (!type || bounds == boundsOf(storageOf(type)))
    return success();
  const std::optional<Tensor> tensor = toTensor(getValue());
  for (int64_t i = 0; tensor && i < tensor->size(); ++i)
    if (const int64_t element = tensor->toInteger(i); !bounds.contains(element))
      return emitOpError("element ")
             << i << " is " << element << ", outside of " << bounds.least
             << " to " << bounds.greatest << ", which the type " << type
             << " allows";
  return success();
}

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getIotaDimension()) >=
      tensorOf(getOutput()).getRank())
    return emitOpError("(C1) iota_dimension is not a dimension of the result");
  return verifyKnownSizes(*this, getOutput());
}

LogicalResult BroadcastInDimOp::verify() {
  if (failed(verifyBroadcast(*this, getOperand(), getResult(),
                             getBroadcastDimensions())))
    return failure();
  return verifyKnownSizes(*this, getResult());
}

LogicalResult ReshapeOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  if (failed(verifyMovedElements(*this, getOperand(), getResult(),
                                 /*keepsScales=*/true)))
    return failure();
  if (from.hasStaticShape() && to.hasStaticShape() &&
      countElements(from.getShape()) != countElements(to.getShape()))
    return emitOpError("(C2) operand and result differ in the number of "
                       "elements");
  if (failed(verifyPerAxisReshape(*this, from, to)))
    return failure();
  return verifyKnownSizes(*this, getResult());
}

LogicalResult TransposeOp::verify() {
  if (failed(verifyMovedElements(*this, getOperand(), getResult(),
                                 /*keepsScales=*/true)))
    return failure();
  auto axisOf = [](Value value) {
    return dyn_cast<quant::UniformQuantizedPerAxisType>(
        tensorOf(value).getElementType());
  };
  auto from = axisOf(getOperand()), to = axisOf(getResult());
  // Type inference reports (C2) and (C3).
  ArrayRef<int64_t> permutation = getPermutation();
  if (!from || !to ||
      to.getQuantizedDimension() >= static_cast<int64_t>(permutation.size()))
    return success();
  if (from.getQuantizedDimension() != permutation[to.getQuantizedDimension()])
    return emitOpError("(C4) the result is not quantised along the axis to "
                       "which the operand's goes");
  return success();
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// A message for the first constraint that the dimension numbers violate;
/// nothing if they satisfy all.
static std::optional<StringRef>
brokenConstraint(RankedTensorType input, RankedTensorType indices,
                 RankedTensorType update, ScatterDimensionNumbersAttr numbers) {
  int64_t rank = input.getRank(), indexRank = indices.getRank();
  int64_t vectorDim = numbers.getIndexVectorDim();
  ArrayRef<int64_t> window = numbers.getUpdateWindowDims();
  ArrayRef<int64_t> inserted = numbers.getInsertedWindowDims();
  ArrayRef<int64_t> batching = numbers.getInputBatchingDims();
  ArrayRef<int64_t> indexBatching = numbers.getScatterIndicesBatchingDims();
  ArrayRef<int64_t> map = numbers.getScatterDimsToOperandDims();
  auto join = [](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    SmallVector<int64_t> all(lhs);
    llvm::append_range(all, rhs);
    return all;
  };
  if (rank !=
      static_cast<int64_t>(window.size() + inserted.size() + batching.size()))
    return "(C2) the window's, inserted and batching dimensions are not as "
           "many as the input's";
  if (vectorDim < 0 || vectorDim > indexRank)
    return "(C22) index_vector_dim is not a dimension of scatter_indices";
  if (!isUnique(window) || !isSorted(window))
    return "(C7) update_window_dims are not in order";
  if (!isWithin(window, update.getRank()))
    return "(C8) update_window_dims are not dimensions of the updates";
  if (!isUnique(join(inserted, batching)))
    return "(C9) a dimension stands twice in inserted_window_dims and "
           "input_batching_dims";
  if (!isSorted(inserted))
    return "(C10) inserted_window_dims are not in order";
  if (!isWithin(inserted, rank))
    return "(C11) inserted_window_dims are not dimensions of the input";
  if (!isSorted(batching))
    return "(C12) input_batching_dims are not in order";
  if (!isWithin(batching, rank))
    return "(C13) input_batching_dims are not dimensions of the input";
  if (!isUnique(indexBatching))
    return "(C14) a dimension stands twice in scatter_indices_batching_dims";
  if (!isWithin(indexBatching, indexRank))
    return "(C15) scatter_indices_batching_dims are not dimensions of "
           "scatter_indices";
  if (llvm::is_contained(indexBatching, vectorDim))
    return "(C16) index_vector_dim is one of scatter_indices_batching_dims";
  if (batching.size() != indexBatching.size())
    return "(C17) input_batching_dims and scatter_indices_batching_dims are "
           "not as many";
  for (auto [dimension, other] : llvm::zip_equal(batching, indexBatching))
    if (differ(input.getDimSize(dimension), indices.getDimSize(other)))
      return "(C18) input and scatter_indices differ in a batching dimension";
  if (differ(vectorDim < indexRank ? indices.getDimSize(vectorDim) : 1,
             map.size()))
    return "(C19) scatter_dims_to_operand_dims has not one element an index "
           "component";
  if (!isUnique(join(map, batching)))
    return "(C20) a dimension stands twice in scatter_dims_to_operand_dims and "
           "input_batching_dims";
  if (!isWithin(map, rank))
    return "(C21) scatter_dims_to_operand_dims has no dimensions of the input";
  int64_t scatterRank = indexRank - (vectorDim < indexRank ? 1 : 0);
  if (update.getRank() != scatterRank + static_cast<int64_t>(window.size()))
    return "(C4) the updates' rank is not that of the indices and the window";
  // The scatter dimensions of the updates are those of the indices, and a
  // window is not larger than the input.
  int64_t indexDim = 0, inputDim = 0;
  for (int64_t i = 0; i < update.getRank(); ++i) {
    if (!llvm::is_contained(window, i)) {
      indexDim += indexDim == vectorDim;
      if (differ(update.getDimSize(i), indices.getDimSize(indexDim++)))
        return "(C4) the updates do not match the indices";
      continue;
    }
    while (llvm::is_contained(inserted, inputDim) ||
           llvm::is_contained(batching, inputDim))
      ++inputDim;
    int64_t most = input.getDimSize(inputDim++);
    if (!ShapedType::isDynamic(most) && !update.isDynamicDim(i) &&
        update.getDimSize(i) > most)
      return "(C4) a window is larger than the input";
  }
  return std::nullopt;
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty() || getResults().size() != getInputs().size())
    return emitOpError("(C5) needs as many results as inputs, at least one");
  auto input = tensorOf(getInputs()[0]), update = tensorOf(getUpdates()[0]);
  for (auto [value, result, each] :
       llvm::zip_equal(getInputs(), getResults(), getUpdates())) {
    if (failed(verifyCompatibleShape(tensorOf(value), input)))
      return emitOpError("(C1) inputs differ in shape");
    if (failed(verifyCompatibleShape(tensorOf(each), update)))
      return emitOpError("(C3) updates differ in shape");
    if (!sameBaselineElement(tensorOf(each), tensorOf(value)))
      return emitOpError("(C6) an update has another element type than its "
                         "input");
    if (failed(verifyCompatibleShape(tensorOf(value), tensorOf(result))))
      return emitOpError("(C24) a result differs from its input in shape");
  }
  if (auto words = brokenConstraint(input, tensorOf(getScatterIndices()),
                                    update, getScatterDimensionNumbers()))
    return emitOpError(*words);
  return verifyReducer(*this, getUpdateComputation(), getInputs().getTypes(),
                       getResultTypes(), "(C23)", "(C25)");
}

LogicalResult SortOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C1) needs as many results as inputs, at least one");
  auto first = tensorOf(getInputs()[0]);
  int64_t rank = first.getRank(), dimension = getDimension();
  SmallVector<Type> arguments;
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (!compatibleMovedTypes(input.getType(), result.getType()))
      return emitOpError("(C2) results differ from inputs in type");
    if (failed(verifyCompatibleShape(tensorOf(input), first)))
      return emitOpError("(C3) inputs differ in shape");
    arguments.append(2, input.getType());
  }
  if (dimension < -rank || dimension >= rank)
    return emitOpError("(C4) dimension is not one of the inputs'");
  Type predicate = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifyScalarRegion(*this, getComparator(), arguments, predicate,
                            "(C5)");
}

} // namespace sinter::stablehlo
