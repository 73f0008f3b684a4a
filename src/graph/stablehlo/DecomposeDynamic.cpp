// Decompositions of dynamic operations into static ones, where the result type
// is static and the operands that become attributes are constants.

#include "graph/Values.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using sinter::nn::isStatic;
using sinter::nn::TensorBuilder;

namespace sinter::stablehlo {

static bool isStaticTensor(Value value) {
  return tensorOf(value).hasStaticShape();
}

FailureOr<Values> DynamicIotaOp::decompose(OpBuilder &builder) {
  if (!isStaticTensor(getResult()))
    return failure();
  return Values{
      builder.create<IotaOp>(getLoc(), getType(), getIotaDimension())};
}

FailureOr<Values> DynamicBroadcastInDimOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  return Values{builder.create<BroadcastInDimOp>(
      getLoc(), getType(), getOperand(), getBroadcastDimensionsAttr())};
}

FailureOr<Values> DynamicReshapeOp::decompose(OpBuilder &builder) {
  if (!isStaticTensor(getResult()) || !isStaticTensor(getOperand()))
    return failure();
  return Values{builder.create<ReshapeOp>(getLoc(), getType(), getOperand())};
}

/// Whether a slice has the shape \p result and is within \p operand.
static bool isSlice(RankedTensorType operand, RankedTensorType result,
                    ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                    ArrayRef<int64_t> strides) {
  const size_t rank = operand.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return false;
  for (size_t i = 0; i < rank; ++i)
    if (starts[i] < 0 || starts[i] > limits[i] || strides[i] < 1 ||
        limits[i] > operand.getDimSize(i) ||
        result.getDimSize(i) !=
            static_cast<int64_t>(llvm::divideCeil(
                static_cast<uint64_t>(limits[i] - starts[i]), strides[i])))
      return false;
  return true;
}

FailureOr<Values> RealDynamicSliceOp::decompose(OpBuilder &builder) {
  auto starts = constantInts(getStartIndices());
  auto limits = constantInts(getLimitIndices());
  auto strides = constantInts(getStrides());
  if (!strides || !isStatic(*this))
    return failure();
  // Out-of-bounds slices have no static form.
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  for (auto [size, whole] : llvm::zip_equal(to.getShape(), from.getShape()))
    if (size > whole)
      return failure();
  if (starts && limits && !isSlice(from, to, *starts, *limits, *strides))
    return failure();
  if (starts && limits)
    return Values{
        builder.create<SliceOp>(getLoc(), getType(), getOperand(),
                                builder.getDenseI64ArrayAttr(*starts),
                                builder.getDenseI64ArrayAttr(*limits),
                                builder.getDenseI64ArrayAttr(*strides))};
  // Only the start is dynamic: the size is the result's.
  if (llvm::any_of(*strides, [](int64_t stride) { return stride != 1; }) ||
      tensorOf(getStartIndices()).getElementType().isIndex())
    return failure();
  TensorBuilder emit(builder, getLoc());
  Values places;
  for (int64_t i = 0; i < tensorOf(getOperand()).getRank(); ++i)
    places.push_back(
        emit.reshape(emit.slice(getStartIndices(), 0, i, i + 1), {}));
  return Values{builder.create<DynamicSliceOp>(
      getLoc(), getType(), getOperand(), places,
      builder.getDenseI64ArrayAttr(tensorOf(getResult()).getShape()))};
}

FailureOr<Values> DynamicPadOp::decompose(OpBuilder &builder) {
  auto low = constantInts(getEdgePaddingLow());
  auto high = constantInts(getEdgePaddingHigh());
  auto interior = constantInts(getInteriorPadding());
  if (!low || !high || !interior || !isStatic(*this))
    return failure();
  return Values{builder.create<PadOp>(
      getLoc(), getType(), getOperand(), getPaddingValue(),
      builder.getDenseI64ArrayAttr(*low), builder.getDenseI64ArrayAttr(*high),
      builder.getDenseI64ArrayAttr(*interior))};
}

FailureOr<Values> DynamicGatherOp::decompose(OpBuilder &builder) {
  auto sizes = constantInts(getSliceSizes());
  if (!sizes || !isStatic(*this))
    return failure();
  return Values{builder.create<GatherOp>(
      getLoc(), getType(), getOperand(), getStartIndices(),
      getDimensionNumbers(), builder.getDenseI64ArrayAttr(*sizes),
      getIndicesAreSortedAttr())};
}

FailureOr<Values> DynamicConvOp::decompose(OpBuilder &builder) {
  auto amounts = constantInts(getPadding());
  if (!amounts || !isStatic(*this))
    return failure();
  auto padding = DenseIntElementsAttr::get(
      RankedTensorType::get(tensorOf(getPadding()).getShape(),
                            builder.getI64Type()),
      *amounts);
  DenseI64ArrayAttr strides;
  if (auto given = getWindowStrides())
    strides = builder.getDenseI64ArrayAttr(given->take_front(getSpatialRank()));
  return Values{builder.create<ConvolutionOp>(
      getLoc(), getType(), getLhs(), getRhs(), strides, padding,
      getLhsDilationAttr(), getRhsDilationAttr(), getWindowReversalAttr(),
      getDimensionNumbersAttr(), getFeatureGroupCountAttr(),
      getBatchGroupCountAttr(), getPrecisionConfigAttr())};
}

} // namespace sinter::stablehlo
