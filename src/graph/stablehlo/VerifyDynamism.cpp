// Constraints of operations whose shapes are known only when run.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Whether the 1-d tensor \p shape has as many elements as \p rank.
static bool hasElements(Value shape, int64_t rank) {
  return !differ(tensorOf(shape).getDimSize(0), rank);
}

LogicalResult DynamicIotaOp::verify() {
  if (static_cast<int64_t>(getIotaDimension()) >=
      tensorOf(getResult()).getRank())
    return emitOpError("(C1) iota_dimension is not a dimension of the result");
  if (!hasElements(getOutputShape(), tensorOf(getResult()).getRank()))
    return emitOpError("(C2) output_shape has not one element a dimension of "
                       "the result");
  return success();
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  if (getBroadcastDimensions().size() !=
          static_cast<size_t>(tensorOf(getOperand()).getRank()) ||
      !isDistinctWithin(getBroadcastDimensions(),
                        tensorOf(getResult()).getRank()))
    return emitOpError("(C2, C3, C4) broadcast_dimensions are not a distinct "
                       "dimension of the result for each of the operand");
  if (!hasElements(getOutputDimensions(), tensorOf(getResult()).getRank()))
    return emitOpError("(C7) output_dimensions has not one element a dimension "
                       "of the result");
  return success();
}

LogicalResult DynamicReshapeOp::verify() {
  if (!hasElements(getOutputShape(), tensorOf(getResult()).getRank()))
    return emitOpError("(C4) output_shape has not one element a dimension of "
                       "the result");
  return success();
}

LogicalResult RealDynamicSliceOp::verify() {
  int64_t rank = tensorOf(getOperand()).getRank();
  if (tensorOf(getResult()).getRank() != rank ||
      !hasElements(getStartIndices(), rank) ||
      !hasElements(getLimitIndices(), rank) || !hasElements(getStrides(), rank))
    return emitOpError("start, limit, stride and result have not one element "
                       "or dimension for each of the operand");
  return success();
}

LogicalResult DynamicPadOp::verify() {
  int64_t rank = tensorOf(getOperand()).getRank();
  if (tensorOf(getResult()).getRank() != rank)
    return emitOpError("(C4) the result differs from the operand in rank");
  if (!hasElements(getEdgePaddingLow(), rank) ||
      !hasElements(getEdgePaddingHigh(), rank) ||
      !hasElements(getInteriorPadding(), rank))
    return emitOpError("(C2) padding has not one element a dimension");
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  if (!hasElements(getSliceSizes(), tensorOf(getOperand()).getRank()))
    return emitOpError("(C8) slice_sizes has not one element a dimension of "
                       "the operand");
  return success();
}

} // namespace sinter::stablehlo
