// Gradients of gather and scatter.

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// stablehlo.scatter of one tensor that adds.
static Value scatterAdd(TensorBuilder &e, Value into, Value indices,
                        Value updates, ScatterDimensionNumbersAttr numbers) {
  auto op = e.builder.create<ScatterOp>(
      e.location, TypeRange(Type(into.getType())), ValueRange(into), indices,
      ValueRange(updates), numbers, /*indices_are_sorted=*/false,
      /*unique_indices=*/false);
  Type scalar = RankedTensorType::get({}, tensorOf(into).getElementType());
  e.fill(op.getUpdateComputation(), {scalar, scalar},
         [](TensorBuilder &inner, ValueRange pair) {
           return SmallVector<Value>{inner.add(pair[0], pair[1])};
         });
  return op->getResult(0);
}

/// One number for each component of an index, spread to the indices' shape.
static Value alongIndices(TensorBuilder &e, Value indices,
                          int64_t vectorDimension, ArrayRef<int64_t> numbers) {
  auto type = tensorOf(indices);
  Value row = e.convert(e.integers(numbers), type.getElementType());
  if (vectorDimension == type.getRank())
    return e.broadcast(e.reshape(row, {}), {}, type.getShape());
  return e.broadcast(row, {vectorDimension}, type.getShape());
}

/// The greatest index of each component: \p sizes are those of the windows,
/// \p map says which dimension a component is of.
static SmallVector<int64_t> greatestIndices(ArrayRef<int64_t> shape,
                                            ArrayRef<int64_t> sizes,
                                            ArrayRef<int64_t> map) {
  return llvm::map_to_vector(map, [&](int64_t dimension) {
    return shape[dimension] - sizes[dimension];
  });
}

/// Adds up what went to several places. Gather cuts indices to the operand,
/// scatter skips what lies outside: so they are cut first.
static Gradients gathered(GatherOp op, TensorBuilder &e, ValueRange dy) {
  Value operand = op.getOperand(), indices = op.getStartIndices();
  if (!isDifferentiable(operand))
    return failure();
  GatherDimensionNumbersAttr from = op.getDimensionNumbers();
  Value greatest = alongIndices(e, indices, from.getIndexVectorDim(),
                                greatestIndices(tensorOf(operand).getShape(),
                                                op.getSliceSizes(),
                                                from.getStartIndexMap()));
  Value zero = e.splat(0, tensorOf(indices));
  indices = e.min(e.max(indices, zero), greatest);
  auto numbers = ScatterDimensionNumbersAttr::get(
      op.getContext(), from.getOffsetDims(), from.getCollapsedSliceDims(),
      from.getOperandBatchingDims(), from.getStartIndicesBatchingDims(),
      from.getStartIndexMap(), from.getIndexVectorDim());
  return list(
      {scatterAdd(e, e.splat(0, tensorOf(operand)), indices, dy[0], numbers),
       Value()});
}

/// The sizes of a scatter's windows, one for each dimension of the input.
static SmallVector<int64_t> windowSizes(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> updates = tensorOf(op.getUpdates()[0]).getShape();
  SmallVector<int64_t> sizes;
  size_t next = 0;
  for (int64_t i = 0; i < tensorOf(op.getInputs()[0]).getRank(); ++i) {
    bool isOne = llvm::is_contained(numbers.getInsertedWindowDims(), i) ||
                 llvm::is_contained(numbers.getInputBatchingDims(), i);
    sizes.push_back(isOne ? 1 : updates[numbers.getUpdateWindowDims()[next++]]);
  }
  return sizes;
}

/// Where in the updates an index lies inside, as i1 of the updates' shape.
static Value isInside(ScatterOp op, TensorBuilder &e, ArrayRef<int64_t> sizes) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  Value indices = op.getScatterIndices();
  int64_t vectorDimension = numbers.getIndexVectorDim();
  Value greatest = alongIndices(
      e, indices, vectorDimension,
      greatestIndices(tensorOf(op.getInputs()[0]).getShape(), sizes,
                      numbers.getScatterDimsToOperandDims()));
  Value inside =
      e.make<AndOp>(e.compare(ComparisonDirection::GE, indices, 0),
                    e.compare(ComparisonDirection::LE, indices, greatest));
  if (vectorDimension < tensorOf(indices).getRank()) {
    Value yes = e.convert(e.scalar(1, e.integerType(32)), e.integerType(1));
    inside = e.reduce<AndOp>(inside, yes, {vectorDimension});
  }
  ArrayRef<int64_t> updates = tensorOf(op.getUpdates()[0]).getShape();
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < static_cast<int64_t>(updates.size()); ++i)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), i))
      places.push_back(i);
  return e.broadcast(inside, places, updates);
}

static Gradients scattered(ScatterOp op, TensorBuilder &e, ValueRange dy) {
  if (op.getInputs().size() != 1 || !isDifferentiable(op.getInputs()[0]) ||
      combinerOf(op.getUpdateComputation()) != AddOp::getOperationName())
    return failure();
  ScatterDimensionNumbersAttr from = op.getScatterDimensionNumbers();
  SmallVector<int64_t> sizes = windowSizes(op);
  auto numbers = GatherDimensionNumbersAttr::get(
      op.getContext(), from.getUpdateWindowDims(), from.getInsertedWindowDims(),
      from.getInputBatchingDims(), from.getScatterIndicesBatchingDims(),
      from.getScatterDimsToOperandDims(), from.getIndexVectorDim());
  Value update = e.make<GatherOp>(dy[0], op.getScatterIndices(), numbers,
                                  ArrayRef<int64_t>(sizes));
  Value zero = e.splat(0, tensorOf(update));
  return list({dy[0], Value(), e.select(isInside(op, e, sizes), update, zero)});
}

void attachIndexing(MLIRContext *context) {
  attach<GatherOp, gathered>(context);
  attach<ScatterOp, scattered>(context);
}

} // namespace sinter::gradient
