// Constraints of operations with dynamic shapes.

#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Whether the 1-d tensor \p shape statically has \p rank elements.
static bool hasElements(Value shape, int64_t rank) {
  return tensorOf(shape).getDimSize(0) == rank;
}

/// Checks that a constant shape agrees with the result's: no negative size,
/// none that differs from a static one.
static LogicalResult verifyConstantShape(Operation *op, Value shape,
                                         Value result, StringRef label) {
  auto sizes = constantInts(shape);
  auto type = tensorOf(result);
  if (!sizes || static_cast<int64_t>(sizes->size()) != type.getRank())
    return success();
  for (auto [size, written] : llvm::zip_equal(*sizes, type.getShape()))
    if (size < 0 || differ(size, written))
      return op->emitOpError(label)
             << " a size is " << size << ", and the result " << type;
  return success();
}

LogicalResult DynamicIotaOp::verify() {
  int64_t rank = tensorOf(getResult()).getRank();
  if (static_cast<int64_t>(getIotaDimension()) >= rank)
    return emitOpError("(C1) iota_dimension is not a dimension of the result");
  if (tensorOf(getResult()).getElementType().isInteger(1))
    return emitOpError("cannot count in i1");
  if (!hasElements(getOutputShape(), rank))
    return emitOpError("(C2) output_shape has not one element a dimension of "
                       "the result");
  return verifyConstantShape(*this, getOutputShape(), getResult(), "(C2)");
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  if (failed(verifyBroadcast(*this, getOperand(), getResult(),
                             getBroadcastDimensions())))
    return failure();
  auto from = tensorOf(getOperand());
  if (!hasElements(getOutputDimensions(), tensorOf(getResult()).getRank()))
    return emitOpError("(C7) output_dimensions has not one element a dimension "
                       "of the result");
  ArrayRef<int64_t> expanding =
      getKnownExpandingDimensions().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> others =
      getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>());
  SmallVector<int64_t> all(expanding);
  llvm::append_range(all, others);
  if (!isUnique(all))
    return emitOpError("(C8) a dimension stands twice in "
                       "known_expanding_dimensions and "
                       "known_nonexpanding_dimensions");
  if (!isWithin(expanding, from.getRank()))
    return emitOpError("(C9) known_expanding_dimensions are not dimensions of "
                       "the operand");
  if (!isWithin(others, from.getRank()))
    return emitOpError("(C10) known_nonexpanding_dimensions are not dimensions "
                       "of the operand");
  if (auto sizes = constantInts(getOutputDimensions()))
    for (auto [i, dimension] : llvm::enumerate(getBroadcastDimensions()))
      if (from.getDimSize(i) != 1 &&
          differ(from.getDimSize(i), (*sizes)[dimension]))
        return emitOpError("(C5) dimension ")
               << i << " of the operand is neither 1 nor the size "
               << (*sizes)[dimension] << " of the result";
  return verifyConstantShape(*this, getOutputDimensions(), getResult(), "(C7)");
}

LogicalResult DynamicReshapeOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  if (failed(verifyMovedElements(*this, getOperand(), getResult(),
                                 /*keepsScales=*/true)))
    return failure();
  std::optional<int64_t> count = countElements(from.getShape());
  std::optional<int64_t> written = countElements(to.getShape());
  if (count && written && *count != *written)
    return emitOpError("(C2) operand and result differ in the number of "
                       "elements");
  if (failed(verifyPerAxisReshape(*this, from, to)))
    return failure();
  if (!hasElements(getOutputShape(), to.getRank()))
    return emitOpError("(C4) output_shape has not one element a dimension of "
                       "the result");
  if (auto sizes = constantInts(getOutputShape()))
    if (count && countElements(*sizes) != count)
      return emitOpError("(C2) operand and output_shape differ in the number "
                         "of elements");
  return verifyConstantShape(*this, getOutputShape(), getResult(), "(C4)");
}

LogicalResult RealDynamicSliceOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("operand and result differ in element type");
  int64_t rank = from.getRank();
  if (to.getRank() != rank ||
      differ(tensorOf(getStartIndices()).getDimSize(0), rank))
    return emitOpError("start, limit, stride and result have not one element "
                       "or dimension for each of the operand");
  Type indices = getStartIndices().getType();
  if (getLimitIndices().getType() != indices ||
      getStrides().getType() != indices)
    return emitOpError("start, limit and stride differ in type");
  return success();
}

LogicalResult DynamicPadOp::verify() {
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  int64_t rank = from.getRank();
  if (tensorOf(getPaddingValue()).getElementType() != from.getElementType() ||
      to.getElementType() != from.getElementType())
    return emitOpError("(C1) operand, padding_value and result differ in "
                       "element type");
  Type amounts = getEdgePaddingLow().getType();
  if (!hasElements(getEdgePaddingLow(), rank) ||
      getEdgePaddingHigh().getType() != amounts ||
      getInteriorPadding().getType() != amounts)
    return emitOpError("(C2) padding has not one element a dimension, all of "
                       "one type");
  auto interior = constantInts(getInteriorPadding());
  if (interior && llvm::any_of(*interior, [](int64_t n) { return n < 0; }))
    return emitOpError("(C3) interior_padding is negative");
  if (to.getRank() != rank)
    return emitOpError("(C4) the result differs from the operand in rank");
  auto low = constantInts(getEdgePaddingLow());
  auto high = constantInts(getEdgePaddingHigh());
  if (!low || !high || !interior)
    return success();
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = from.getDimSize(i), between;
    if (ShapedType::isDynamic(size))
      continue;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), (*interior)[i],
                          between) ||
        llvm::AddOverflow(size, between, size) ||
        llvm::AddOverflow(size, (*low)[i], size) ||
        llvm::AddOverflow(size, (*high)[i], size) || size < 0 ||
        differ(size, to.getDimSize(i)))
      return emitOpError("(C4) dimension ")
             << i << " of the result does not follow from the padding";
  }
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  auto operand = tensorOf(getOperand()), result = tensorOf(getResult());
  auto numbers = getDimensionNumbers();
  if (!hasElements(getSliceSizes(), operand.getRank()))
    return emitOpError("(C11) slice_sizes has not one element a dimension of "
                       "the operand");
  auto sizes = constantInts(getSliceSizes());
  std::optional<Dimensions> shape = inferGather(
      getLoc(), operand, tensorOf(getStartIndices()), numbers,
      sizes ? std::optional<ArrayRef<int64_t>>(*sizes) : std::nullopt,
      dynamicGatherLabels);
  if (!shape)
    return failure();
  if (failed(verifyCompatibleShape(sizesOf(*shape), result.getShape())))
    return emitOpError("(C13) the result's shape does not follow from the "
                       "operands");
  if (result.getElementType() != operand.getElementType())
    return emitOpError("(C14) operand and result differ in element type");
  return success();
}

} // namespace sinter::stablehlo
