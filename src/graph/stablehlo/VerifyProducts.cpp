// Constraints of convolutions and products.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

/// One of each dimension, none twice.
static bool coversAllDimensions(int64_t rank, int64_t first, int64_t second,
                                ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> all(spatial);
  all.push_back(first);
  all.push_back(second);
  return static_cast<int64_t>(all.size()) == rank &&
         isDistinctWithin(all, rank);
}

/// What convolution and dynamic_conv share: all but the padding and what
/// depends on it.
template <typename Op> static LogicalResult verifyConvolution(Op op) {
  auto numbers = op.getDimensionNumbers();
  auto lhs = tensorOf(op.getLhs()), rhs = tensorOf(op.getRhs());
  auto result = tensorOf(op.getResult());
  auto emitOpError = [&](const char *words) { return op.emitOpError(words); };
  size_t spatial = numbers.getInputSpatialDimensions().size();
  if (lhs.getRank() != rhs.getRank() || result.getRank() != lhs.getRank())
    return emitOpError("(C1) lhs, rhs and result differ in rank");
  auto sized = [&](auto list) { return !list || list->size() == spatial; };
  if (!sized(op.getWindowStrides()) || !sized(op.getLhsDilation()) ||
      !sized(op.getRhsDilation()) || !sized(op.getWindowReversal()))
    return emitOpError(
        "(C2, C5, C7, C9) a window attribute has not one element "
        "a spatial dimension");
  if (!coversAllDimensions(lhs.getRank(), numbers.getInputBatchDimension(),
                           numbers.getInputFeatureDimension(),
                           numbers.getInputSpatialDimensions()))
    return emitOpError("(C12, C13) the input's dimension numbers are not its "
                       "dimensions");
  if (!coversAllDimensions(rhs.getRank(),
                           numbers.getKernelInputFeatureDimension(),
                           numbers.getKernelOutputFeatureDimension(),
                           numbers.getKernelSpatialDimensions()))
    return emitOpError("(C17, C18) the kernel's dimension numbers are not its "
                       "dimensions");
  if (!coversAllDimensions(result.getRank(), numbers.getOutputBatchDimension(),
                           numbers.getOutputFeatureDimension(),
                           numbers.getOutputSpatialDimensions()))
    return emitOpError("(C19, C20) the output's dimension numbers are not its "
                       "dimensions");

  int64_t groups = op.getFeatureGroupCount(),
          batchGroups = op.getBatchGroupCount();
  if (groups > 1 && batchGroups > 1)
    return emitOpError("(C23) feature_group_count and batch_group_count are "
                       "both greater than 1");
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t features = lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t kernelIn = rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t kernelOut = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (!ShapedType::isDynamic(batch) && batch % batchGroups != 0)
    return emitOpError("(C10) the batch is not a multiple of "
                       "batch_group_count");
  if (!ShapedType::isDynamic(features) &&
      (features % groups != 0 || differ(features / groups, kernelIn)))
    return emitOpError("(C11, C14) the kernel has ")
           << kernelIn << " input features, not the input's " << features
           << " over " << groups << " groups";
  if (!ShapedType::isDynamic(kernelOut) &&
      (kernelOut % groups != 0 || kernelOut % batchGroups != 0))
    return emitOpError("(C15, C16) the kernel's output features are not a "
                       "multiple of the group count");

  int64_t outBatch = result.getDimSize(numbers.getOutputBatchDimension());
  if ((!ShapedType::isDynamic(batch) &&
       differ(batch / batchGroups, outBatch)) ||
      differ(kernelOut, result.getDimSize(numbers.getOutputFeatureDimension())))
    return emitOpError(
        "(C25) the result's batch or features do not follow from "
        "the operands");
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  auto numbers = getDimensionNumbers();
  auto lhs = tensorOf(getLhs()), result = tensorOf(getResult());
  if (auto padding = getPadding())
    if (padding->getType().getShape() !=
        ArrayRef<int64_t>({getSpatialRank(), 2}))
      return emitOpError("(C4) padding is not [low, high] for each spatial "
                         "dimension");
  for (auto [index, dimension] : llvm::enumerate(getWindow())) {
    std::optional<int64_t> size = windowedSize(
        lhs.getDimSize(numbers.getInputSpatialDimensions()[index]), dimension);
    if (!size)
      return emitOpError("(C3, C6, C8) spatial dimension ")
             << index << ": stride and dilations are not positive, or the "
             << "padded size is too large";
    if (!ShapedType::isDynamic(dimension.size) &&
        differ(*size,
               result.getDimSize(numbers.getOutputSpatialDimensions()[index])))
      return emitOpError("(C25) spatial dimension ")
             << index << " of the result should have size " << *size;
  }
  return success();
}

LogicalResult DynamicConvOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  auto padding = tensorOf(getPadding());
  if (differ(padding.getDimSize(0), getSpatialRank()) ||
      differ(padding.getDimSize(1), 2))
    return emitOpError("(C4) padding is not [low, high] for each spatial "
                       "dimension");
  for (const WindowDimension &dimension : getWindow())
    if (dimension.stride < 1 || dimension.baseDilation < 1 ||
        dimension.windowDilation < 1)
      return emitOpError("(C3, C6, C8) a stride or dilation is not positive");
  return success();
}

LogicalResult DotGeneralOp::verify() {
  auto numbers = getDotDimensionNumbers();
  auto lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  SmallVector<int64_t> shape;
  auto check = [&](ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims) {
    if (lhsDims.size() != rhsDims.size() ||
        !isDistinctWithin(lhsDims, lhs.getRank()) ||
        !isDistinctWithin(rhsDims, rhs.getRank()))
      return false;
    return llvm::all_of(llvm::zip_equal(lhsDims, rhsDims), [&](auto pair) {
      return !differ(lhs.getDimSize(std::get<0>(pair)),
                     rhs.getDimSize(std::get<1>(pair)));
    });
  };
  if (!check(numbers.getLhsBatchingDimensions(),
             numbers.getRhsBatchingDimensions()))
    return emitOpError("(C1, C3, C5, C7, C9) the batching dimensions do not "
                       "match");
  if (!check(numbers.getLhsContractingDimensions(),
             numbers.getRhsContractingDimensions()))
    return emitOpError("(C2, C4, C6, C8, C10) the contracting dimensions do "
                       "not match");
  for (int64_t dimension : numbers.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(dimension));
  auto addFree = [&](RankedTensorType type, ArrayRef<int64_t> batching,
                     ArrayRef<int64_t> contracting) {
    for (int64_t i = 0; i < type.getRank(); ++i) {
      bool isBatching = llvm::is_contained(batching, i);
      bool isContracting = llvm::is_contained(contracting, i);
      if (isBatching && isContracting)
        return false;
      if (!isBatching && !isContracting)
        shape.push_back(type.getDimSize(i));
    }
    return true;
  };
  if (!addFree(lhs, numbers.getLhsBatchingDimensions(),
               numbers.getLhsContractingDimensions()) ||
      !addFree(rhs, numbers.getRhsBatchingDimensions(),
               numbers.getRhsContractingDimensions()))
    return emitOpError("(C3, C4) a dimension is both batching and contracting");
  if (failed(verifyCompatibleShape(shape, tensorOf(getResult()).getShape())))
    return emitOpError("(C12) the result's shape does not follow from the "
                       "operands'");
  return success();
}

LogicalResult DotOp::verify() {
  auto lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  if (lhs.getRank() < 1 || lhs.getRank() > 2 || rhs.getRank() < 1 ||
      rhs.getRank() > 2)
    return emitOpError("takes vectors and matrices");
  if (differ(lhs.getShape().back(), rhs.getShape().front()))
    return emitOpError("the contracted dimensions differ: ")
           << lhs << " and " << rhs;
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  if (failed(verifyCompatibleShape(shape, tensorOf(getResult()).getShape())))
    return emitOpError("the result's shape does not follow from the operands'");
  return success();
}

} // namespace sinter::stablehlo
