// Constraints of convolutions and matmuls.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Whether the dimension numbers cover all dimensions, each once.
static bool coversAllDimensions(int64_t rank, int64_t first, int64_t second,
                                ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> all(spatial);
  all.push_back(first);
  all.push_back(second);
  return static_cast<int64_t>(all.size()) == rank &&
         isDistinctWithin(all, rank);
}

namespace {
/// The labels of the constraints on element types.
struct ProductLabels {
  StringRef plain, quantised, storage, expressed, perTensor, hybrid;
};
} // namespace

static LogicalResult verifyQuantisedProduct(Operation *op, Type lhs, Type rhs,
                                            Type result,
                                            const ProductLabels &labels) {
  auto left = dyn_cast<quant::QuantizedType>(lhs);
  auto right = dyn_cast<quant::QuantizedType>(rhs);
  auto given = dyn_cast<quant::QuantizedType>(result);
  if (!left && !right && !given) {
    if (lhs != rhs)
      return op->emitOpError(labels.plain)
             << " lhs and rhs have different element types: " << lhs << " and "
             << rhs;
    return success();
  }
  if (!right || static_cast<bool>(left) != static_cast<bool>(given))
    return op->emitOpError(labels.quantised)
           << " rhs is not quantised, or only one of lhs and result is";
  if (!left) {
    if (lhs != right.getExpressedType() || lhs != result)
      return op->emitOpError(labels.hybrid)
             << " lhs and result are not of the type that rhs expresses";
    return success();
  }
  if (left.getStorageType() != right.getStorageType() ||
      left.isSigned() != right.isSigned())
    return op->emitOpError(labels.storage)
           << " lhs and rhs differ in storage type";
  if (left.getExpressedType() != right.getExpressedType() ||
      left.getExpressedType() != given.getExpressedType())
    return op->emitOpError(labels.expressed)
           << " lhs, rhs and result differ in expressed type";
  if (isa<quant::UniformQuantizedType>(right) &&
      !isa<quant::UniformQuantizedType>(given))
    return op->emitOpError(labels.perTensor)
           << " the result is quantised per axis and rhs is not";
  return success();
}

static LogicalResult verifyPrecision(Operation *op,
                                     std::optional<ArrayAttr> precision,
                                     StringRef label) {
  if (precision && precision->size() > 2)
    return op->emitOpError(label)
           << " precision_config has " << precision->size()
           << " elements, more than 2";
  return success();
}

/// The quantised axis of a type that is quantised per axis.
static std::optional<int64_t> axisOf(RankedTensorType type) {
  auto perAxis =
      dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  return perAxis ? std::optional<int64_t>(perAxis.getQuantizedDimension())
                 : std::nullopt;
}

/// Checks the strides, dilations and reversals: one per spatial dimension.
template <typename Op> static LogicalResult verifyConvolutionWindow(Op op) {
  const size_t spatial = tensorOf(op.getLhs()).getRank() - 2;
  auto emitOpError = [&](const char *words) { return op.emitOpError(words); };
  auto sized = [&](auto list) { return !list || list->size() == spatial; };
  auto positive = [](auto list) {
    return !list || llvm::all_of(*list, [](int64_t n) { return n > 0; });
  };
  // JAX may export more strides than a dynamic convolution has spatial
  // dimensions; the rest is ignored.
  auto strides = op.getWindowStrides();
  bool hasSpares =
      std::is_same_v<Op, DynamicConvOp> && strides && strides->size() > spatial;
  if (!sized(strides) && !hasSpares)
    return emitOpError("(C2) window_strides has not one element a spatial "
                       "dimension");
  if (!positive(op.getWindowStrides()))
    return emitOpError("(C3) a stride is not positive");
  if (!sized(op.getLhsDilation()))
    return emitOpError("(C5) lhs_dilation has not one element a spatial "
                       "dimension");
  if (!positive(op.getLhsDilation()))
    return emitOpError("(C6) an element of lhs_dilation is not positive");
  if (!sized(op.getRhsDilation()))
    return emitOpError("(C7) rhs_dilation has not one element a spatial "
                       "dimension");
  if (!positive(op.getRhsDilation()))
    return emitOpError("(C8) an element of rhs_dilation is not positive");
  if (!sized(op.getWindowReversal()))
    return emitOpError("(C9) window_reversal has not one element a spatial "
                       "dimension");
  return success();
}

/// Checks the dimension numbers: each dimension has one role.
template <typename Op> static LogicalResult verifyConvolutionNumbers(Op op) {
  auto numbers = op.getDimensionNumbers();
  const int64_t rank = tensorOf(op.getLhs()).getRank();
  const size_t spatial = rank - 2;
  auto emitOpError = [&](const char *words) { return op.emitOpError(words); };
  if (numbers.getInputSpatialDimensions().size() != spatial)
    return emitOpError("(C12) input_spatial_dimensions are not as many as the "
                       "spatial dimensions");
  if (numbers.getKernelSpatialDimensions().size() != spatial)
    return emitOpError("(C17) kernel_spatial_dimensions are not as many as the "
                       "spatial dimensions");
  if (numbers.getOutputSpatialDimensions().size() != spatial)
    return emitOpError("(C19) output_spatial_dimensions are not as many as the "
                       "spatial dimensions");
  if (!coversAllDimensions(rank, numbers.getInputBatchDimension(),
                           numbers.getInputFeatureDimension(),
                           numbers.getInputSpatialDimensions()))
    return emitOpError("(C13) the input's dimension numbers are not its "
                       "dimensions");
  if (!coversAllDimensions(rank, numbers.getKernelInputFeatureDimension(),
                           numbers.getKernelOutputFeatureDimension(),
                           numbers.getKernelSpatialDimensions()))
    return emitOpError("(C18) the kernel's dimension numbers are not its "
                       "dimensions");
  if (!coversAllDimensions(rank, numbers.getOutputBatchDimension(),
                           numbers.getOutputFeatureDimension(),
                           numbers.getOutputSpatialDimensions()))
    return emitOpError("(C20) the output's dimension numbers are not its "
                       "dimensions");
  return success();
}

/// Checks that batches and features are divisible by the groups.
template <typename Op> static LogicalResult verifyConvolutionGroups(Op op) {
  auto numbers = op.getDimensionNumbers();
  auto lhs = tensorOf(op.getLhs()), rhs = tensorOf(op.getRhs());
  auto emitOpError = [&](const char *words) { return op.emitOpError(words); };
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
  if (!ShapedType::isDynamic(features) && features % groups != 0)
    return emitOpError("(C11) the input's features are not a multiple of "
                       "feature_group_count");
  if (!ShapedType::isDynamic(features) && differ(features / groups, kernelIn))
    return emitOpError("(C14) the kernel has ")
           << kernelIn << " input features, not the input's " << features
           << " over " << groups << " groups";
  if (!ShapedType::isDynamic(kernelOut) && kernelOut % batchGroups != 0)
    return emitOpError("(C15) the kernel's output features are not a multiple "
                       "of batch_group_count");
  if (!ShapedType::isDynamic(kernelOut) && kernelOut % groups != 0)
    return emitOpError("(C16) the kernel's output features are not a multiple "
                       "of feature_group_count");
  return success();
}

/// Checks the axes of types that are quantised per axis.
template <typename Op> static LogicalResult verifyConvolutionAxes(Op op) {
  auto numbers = op.getDimensionNumbers();
  auto rhs = tensorOf(op.getRhs()), result = tensorOf(op.getResult());
  auto emitOpError = [&](const char *words) { return op.emitOpError(words); };
  if (axisOf(rhs).value_or(numbers.getKernelOutputFeatureDimension()) !=
      numbers.getKernelOutputFeatureDimension())
    return emitOpError("(C29) rhs is quantised along another axis than its "
                       "output features");
  if (axisOf(result).value_or(numbers.getOutputFeatureDimension()) !=
      numbers.getOutputFeatureDimension())
    return emitOpError("(C30) the result is quantised along another axis than "
                       "its features");
  return success();
}

/// Checks the constraints that convolution and dynamic_conv share: all that do
/// not depend on the padding.
template <typename Op> static LogicalResult verifyConvolution(Op op) {
  auto numbers = op.getDimensionNumbers();
  auto lhs = tensorOf(op.getLhs()), rhs = tensorOf(op.getRhs());
  auto result = tensorOf(op.getResult());
  if (lhs.getRank() != rhs.getRank() || lhs.getRank() < 2)
    return op.emitOpError("(C1) lhs and rhs have not the same two or more "
                          "dimensions");
  if (result.getRank() != lhs.getRank())
    return op.emitOpError("(C26) the result differs from lhs in rank");
  if (failed(verifyConvolutionWindow(op)) ||
      failed(verifyConvolutionNumbers(op)) ||
      failed(verifyConvolutionGroups(op)) ||
      failed(verifyPrecision(op, op.getPrecisionConfig(), "(C24)")) ||
      failed(verifyQuantisedProduct(
          op, lhs.getElementType(), rhs.getElementType(),
          result.getElementType(),
          {"(C27)", "(C28)", "(C31)", "(C32)", "(C33)", "(C34)"})) ||
      failed(verifyConvolutionAxes(op)))
    return failure();
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t features = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if ((!ShapedType::isDynamic(batch) &&
       differ(batch / int64_t(op.getBatchGroupCount()),
              result.getDimSize(numbers.getOutputBatchDimension()))) ||
      differ(features, result.getDimSize(numbers.getOutputFeatureDimension())))
    return op.emitOpError(
        "(C25) the result's batch or features do not follow from "
        "the operands");
  return success();
}

/// Checks that the result has one element per window position.
template <typename Op>
static LogicalResult verifySpatialSizes(Op op,
                                        const ConvolutionWindow &window) {
  auto numbers = op.getDimensionNumbers();
  auto lhs = tensorOf(op.getLhs()), result = tensorOf(op.getResult());
  for (auto [index, dimension] : llvm::enumerate(window)) {
    std::optional<int64_t> size = windowedSize(
        lhs.getDimSize(numbers.getInputSpatialDimensions()[index]), dimension);
    if (!size)
      return op.emitOpError("(C25) spatial dimension ")
             << index << ": the padded size is too large";
    if (differ(*size,
               result.getDimSize(numbers.getOutputSpatialDimensions()[index])))
      return op.emitOpError("(C25) spatial dimension ")
             << index << " of the result should have size " << *size;
  }
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  if (auto padding = getPadding())
    if (padding->getType().getShape() !=
        ArrayRef<int64_t>({getSpatialRank(), 2}))
      return emitOpError("(C4) padding is not [low, high] for each spatial "
                         "dimension");
  return verifySpatialSizes(*this, getWindow());
}

LogicalResult DynamicConvOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  auto padding = tensorOf(getPadding());
  if (differ(padding.getDimSize(0), getSpatialRank()) ||
      differ(padding.getDimSize(1), 2))
    return emitOpError("(C4) padding is not [low, high] for each spatial "
                       "dimension");
  std::optional<SmallVector<int64_t>> known = constantInts(getPadding());
  if (!known)
    return success();
  ConvolutionWindow window = getWindow();
  for (auto [index, dimension] : llvm::enumerate(window)) {
    dimension.paddingLow = (*known)[2 * index];
    dimension.paddingHigh = (*known)[2 * index + 1];
  }
  return verifySpatialSizes(*this, window);
}

/// The dimension numbers of one operand, and the labels of their constraints.
namespace {
struct DotSide {
  RankedTensorType type;
  ArrayRef<int64_t> batching, contracting;
  StringRef unique, batchingWithin, contractingWithin;
};
} // namespace

static LogicalResult verifySide(Operation *op, const DotSide &side) {
  SmallVector<int64_t> all(side.batching);
  llvm::append_range(all, side.contracting);
  if (!isUnique(all))
    return op->emitOpError(side.unique)
           << " a dimension stands twice among batching and contracting ones";
  if (!isWithin(side.batching, side.type.getRank()))
    return op->emitOpError(side.batchingWithin)
           << " a batching dimension is not one of the operand's";
  if (!isWithin(side.contracting, side.type.getRank()))
    return op->emitOpError(side.contractingWithin)
           << " a contracting dimension is not one of the operand's";
  return success();
}

/// Whether the dimensions have the same sizes, one by one.
static bool haveSameSizes(RankedTensorType lhs, ArrayRef<int64_t> lhsDims,
                          RankedTensorType rhs, ArrayRef<int64_t> rhsDims) {
  return llvm::all_of(llvm::zip_equal(lhsDims, rhsDims), [&](auto pair) {
    return !differ(lhs.getDimSize(std::get<0>(pair)),
                   rhs.getDimSize(std::get<1>(pair)));
  });
}

/// Checks the constraints (C13) to (C24): types, precision, algorithm.
static LogicalResult verifyArithmetic(DotGeneralOp op) {
  auto rhs = tensorOf(op.getRhs());
  if (failed(verifyPrecision(op, op.getPrecisionConfig(), "(C11)")) ||
      failed(verifyQuantisedProduct(
          op, tensorOf(op.getLhs()).getElementType(), rhs.getElementType(),
          tensorOf(op.getResult()).getElementType(),
          {"(C13)", "(C14)", "(C17)", "(C18)", "(C19)", "(C20)"})))
    return failure();
  bool hasZeroPoint = false;
  if (auto type = dyn_cast<quant::UniformQuantizedType>(rhs.getElementType()))
    hasZeroPoint = type.getZeroPoint() != 0;
  if (auto type =
          dyn_cast<quant::UniformQuantizedPerAxisType>(rhs.getElementType()))
    hasZeroPoint = llvm::any_of(type.getZeroPoints(),
                                [](int64_t point) { return point != 0; });
  if (hasZeroPoint)
    return op.emitOpError("(C15) a zero point of rhs is not 0");
  auto numbers = op.getDotDimensionNumbers();
  if (auto axis = axisOf(rhs))
    if (llvm::is_contained(numbers.getRhsContractingDimensions(), *axis))
      return op.emitOpError("(C16) rhs is quantised along a contracting "
                            "dimension");
  if (op.getAlgorithm() && op.getPrecisionConfig())
    for (auto precision : op.getPrecisionConfig()->getAsRange<PrecisionAttr>())
      if (precision.getValue() != Precision::DEFAULT)
        return op.emitOpError("(C21) has an algorithm and a precision other "
                              "than DEFAULT");
  return success();
}

LogicalResult DotGeneralOp::verify() {
  auto numbers = getDotDimensionNumbers();
  auto lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatching = numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContracting = numbers.getLhsContractingDimensions();
  ArrayRef<int64_t> rhsContracting = numbers.getRhsContractingDimensions();
  if (lhsBatching.size() != rhsBatching.size())
    return emitOpError("(C1) lhs and rhs have not as many batching dimensions");
  if (lhsContracting.size() != rhsContracting.size())
    return emitOpError("(C2) lhs and rhs have not as many contracting "
                       "dimensions");
  if (failed(verifySide(
          *this, {lhs, lhsBatching, lhsContracting, "(C3)", "(C5)", "(C6)"})) ||
      failed(verifySide(
          *this, {rhs, rhsBatching, rhsContracting, "(C4)", "(C7)", "(C8)"})))
    return failure();
  if (!haveSameSizes(lhs, lhsBatching, rhs, rhsBatching))
    return emitOpError("(C9) batching dimensions differ in size");
  if (!haveSameSizes(lhs, lhsContracting, rhs, rhsContracting))
    return emitOpError("(C10) contracting dimensions differ in size");
  SmallVector<int64_t> shape;
  for (int64_t dimension : lhsBatching)
    shape.push_back(lhs.getDimSize(dimension));
  for (const ProductSide &side : {getSide(0), getSide(1)})
    for (int64_t dimension : side.free())
      shape.push_back(tensorOf(side.value).getShape()[dimension]);
  if (failed(verifyCompatibleShape(shape, tensorOf(getResult()).getShape())))
    return emitOpError("(C12) the result's shape does not follow from the "
                       "operands'");
  return verifyArithmetic(*this);
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
