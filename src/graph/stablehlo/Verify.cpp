// Constraints that operands, attributes and written results must satisfy; the
// labels are the specification's.

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static bool differ(int64_t lhs, int64_t rhs) {
  return !ShapedType::isDynamic(lhs) && !ShapedType::isDynamic(rhs) &&
         lhs != rhs;
}
static bool isDistinctWithin(ArrayRef<int64_t> list, int64_t rank) {
  llvm::SmallDenseSet<int64_t> seen;
  return llvm::all_of(list, [&](int64_t dimension) {
    return dimension >= 0 && dimension < rank && seen.insert(dimension).second;
  });
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getIotaDimension()) >=
      cast<RankedTensorType>(getType()).getRank())
    return emitOpError("(C1) iota_dimension is not a dimension of the result");
  return success();
}

LogicalResult BitcastConvertOp::verify() {
  auto bits = [](RankedTensorType type) -> int64_t {
    Type element = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  };
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  int64_t fromBits = bits(from), toBits = bits(to);
  if (!fromBits || !toBits)
    return emitOpError("takes integers, floats and complex numbers");
  auto narrow = fromBits < toBits ? from : to;
  auto wide = fromBits < toBits ? to : from;
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  bool same = ratio == 1;
  if (narrow.getRank() != wide.getRank() + (same ? 0 : 1) ||
      failed(verifyCompatibleShape(same ? narrow.getShape()
                                        : narrow.getShape().drop_back(),
                                   wide.getShape())) ||
      (!same && differ(narrow.getShape().back(), ratio)))
    return emitOpError("(C1) the shapes do not fit the elements' widths");
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

LogicalResult GetDimensionSizeOp::verify() {
  if (static_cast<int64_t>(getDimension()) >= tensorOf(getOperand()).getRank())
    return emitOpError("(C1) dimension is not one of the operand's");
  return success();
}

/// The region's arguments and results are scalars of the given element types.
static LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                        TypeRange arguments,
                                        TypeRange results) {
  Block &block = region.front();
  auto fits = [](Type written, Type tensor) {
    auto type = dyn_cast<RankedTensorType>(written);
    return type && type.getRank() == 0 &&
           type.getElementType() ==
               cast<RankedTensorType>(tensor).getElementType();
  };
  if (block.getNumArguments() != arguments.size())
    return op->emitOpError("the region takes ")
           << block.getNumArguments() << " arguments instead of "
           << arguments.size();
  for (auto [argument, type] : llvm::zip_equal(block.getArguments(), arguments))
    if (!fits(argument.getType(), type))
      return op->emitOpError("the region's argument ")
             << argument.getType() << " is not a scalar of "
             << cast<RankedTensorType>(type).getElementType();
  if (block.empty() || !isa<ReturnOp>(block.back()))
    return op->emitOpError("the region does not end in stablehlo.return");
  Operation *terminator = &block.back();
  if (terminator->getNumOperands() != results.size())
    return op->emitOpError("the region returns ")
           << terminator->getNumOperands() << " values instead of "
           << results.size();
  for (auto [value, type] : llvm::zip_equal(terminator->getOperands(), results))
    if (!fits(value.getType(), type))
      return op->emitOpError("the region returns ")
             << value.getType() << ", not a scalar of "
             << cast<RankedTensorType>(type).getElementType();
  return success();
}

static SmallVector<Type> twice(TypeRange types) {
  SmallVector<Type> result(types);
  result.append(types.begin(), types.end());
  return result;
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
    if (!compatibleTypes(value.getType(), result.getType()) ||
        failed(verifyCompatibleShape(tensorOf(value), input)) ||
        failed(verifyCompatibleShape(tensorOf(each), update)) ||
        tensorOf(each).getElementType() != tensorOf(value).getElementType())
      return emitOpError("(C1, C3, C6, C24) inputs, updates and results do not "
                         "match");
  return verifyScalarRegion(*this, getUpdateComputation(),
                            twice(getInputs().getTypes()),
                            getInputs().getTypes());
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
  return verifyScalarRegion(*this, getComparator(), arguments, predicate);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ConvolutionWindow ConvolutionOp::getWindow() {
  auto numbers = getDimensionNumbers();
  auto kernel = tensorOf(getRhs());
  ConvolutionWindow window;
  for (int64_t i = 0; i < getSpatialRank(); ++i) {
    WindowDimension dimension;
    dimension.size = kernel.getDimSize(numbers.getKernelSpatialDimensions()[i]);
    if (auto strides = getWindowStrides())
      dimension.stride = (*strides)[i];
    if (auto padding = getPadding()) {
      dimension.paddingLow = padding->getValues<int64_t>()[2 * i];
      dimension.paddingHigh = padding->getValues<int64_t>()[2 * i + 1];
    }
    if (auto dilation = getLhsDilation())
      dimension.baseDilation = (*dilation)[i];
    if (auto dilation = getRhsDilation())
      dimension.windowDilation = (*dilation)[i];
    if (auto reversal = getWindowReversal())
      dimension.reversed = (*reversal)[i];
    window.push_back(dimension);
  }
  return window;
}

/// One of each dimension, none twice.
static bool coversAllDimensions(int64_t rank, int64_t first, int64_t second,
                                ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> all(spatial);
  all.push_back(first);
  all.push_back(second);
  return static_cast<int64_t>(all.size()) == rank &&
         isDistinctWithin(all, rank);
}

LogicalResult ConvolutionOp::verify() {
  auto numbers = getDimensionNumbers();
  auto lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  auto result = tensorOf(getResult());
  size_t spatial = numbers.getInputSpatialDimensions().size();
  if (lhs.getRank() != rhs.getRank() || result.getRank() != lhs.getRank())
    return emitOpError("(C1) lhs, rhs and result differ in rank");
  auto sized = [&](auto list) { return !list || list->size() == spatial; };
  if (!sized(getWindowStrides()) || !sized(getLhsDilation()) ||
      !sized(getRhsDilation()) || !sized(getWindowReversal()))
    return emitOpError(
        "(C2, C5, C7, C9) a window attribute has not one element "
        "a spatial dimension");
  if (auto padding = getPadding())
    if (padding->getType().getShape() !=
        ArrayRef<int64_t>({static_cast<int64_t>(spatial), 2}))
      return emitOpError("(C4) padding is not [low, high] for each spatial "
                         "dimension");
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

  int64_t groups = getFeatureGroupCount(), batchGroups = getBatchGroupCount();
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

SmallVector<ChannelFold> ConvolutionOp::getResultFolds(unsigned weightOperand) {
  if (weightOperand != 1)
    return {};
  auto numbers = getDimensionNumbers();
  return {{numbers.getOutputFeatureDimension(),
           numbers.getKernelOutputFeatureDimension()}};
}

SmallVector<ChannelFold>
ConvolutionOp::getOperandFolds(unsigned weightOperand) {
  if (weightOperand != 1)
    return {};
  auto numbers = getDimensionNumbers();
  ChannelFold fold{numbers.getInputFeatureDimension(),
                   numbers.getKernelInputFeatureDimension()};
  if (getFeatureGroupCount() > 1) {
    fold.groupDim = numbers.getKernelOutputFeatureDimension();
    fold.groups = getFeatureGroupCount();
  }
  fold.padded = llvm::any_of(getWindow(), [](const WindowDimension &each) {
    return each.paddingLow > 0 || each.paddingHigh > 0 || each.baseDilation > 1;
  });
  return {fold};
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

/// Of an operand of a product: the dimensions that are neither batching nor
/// contracting.
static SmallVector<int64_t> freeDimensions(RankedTensorType type,
                                           ArrayRef<int64_t> batching,
                                           ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> free;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
      free.push_back(i);
  return free;
}

SmallVector<ChannelFold> DotGeneralOp::getResultFolds(unsigned weightOperand) {
  auto numbers = getDotDimensionNumbers();
  SmallVector<int64_t> lhsFree =
      freeDimensions(tensorOf(getLhs()), numbers.getLhsBatchingDimensions(),
                     numbers.getLhsContractingDimensions());
  SmallVector<int64_t> rhsFree =
      freeDimensions(tensorOf(getRhs()), numbers.getRhsBatchingDimensions(),
                     numbers.getRhsContractingDimensions());
  bool isLhs = weightOperand == 0;
  // The result is [batching..., lhs free..., rhs free...].
  SmallVector<ChannelFold> folds;
  int64_t place = 0;
  for (int64_t dimension : isLhs ? numbers.getLhsBatchingDimensions()
                                 : numbers.getRhsBatchingDimensions())
    folds.push_back({place++, dimension});
  if (!isLhs)
    place += lhsFree.size();
  for (int64_t dimension : isLhs ? lhsFree : rhsFree)
    folds.push_back({place++, dimension});
  return folds;
}

SmallVector<ChannelFold> DotGeneralOp::getOperandFolds(unsigned weightOperand) {
  auto numbers = getDotDimensionNumbers();
  SmallVector<ChannelFold> folds;
  auto add = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    for (auto [left, right] : llvm::zip_equal(lhs, rhs))
      folds.push_back(weightOperand == 1 ? ChannelFold{left, right}
                                         : ChannelFold{right, left});
  };
  add(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions());
  add(numbers.getLhsContractingDimensions(),
      numbers.getRhsContractingDimensions());
  return folds;
}

//===----------------------------------------------------------------------===//
// Reductions and normalisation
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C3) needs as many results as inputs, at least one");
  auto first = tensorOf(getInputs()[0]);
  if (!isDistinctWithin(getDimensions(), first.getRank()))
    return emitOpError("(C4, C5) dimensions are not distinct dimensions of the "
                       "inputs");
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < first.getRank(); ++i)
    if (!llvm::is_contained(getDimensions(), i))
      shape.push_back(first.getDimSize(i));
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (failed(verifyCompatibleShape(tensorOf(input), first)))
      return emitOpError("(C1) inputs differ in shape");
    if (failed(verifyCompatibleShape(tensorOf(result).getShape(), shape)))
      return emitOpError("(C7) a result's shape does not follow from the "
                         "inputs'");
  }
  return verifyScalarRegion(*this, getBody(), twice(getInitValues().getTypes()),
                            getResultTypes());
}

LogicalResult ReduceWindowOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return emitOpError("(C1) needs as many results as inputs, at least one");
  auto first = tensorOf(getInputs()[0]);
  size_t rank = first.getRank();
  auto sized = [&](auto list) { return !list || list->size() == rank; };
  if (getWindowDimensions().size() != rank || !sized(getWindowStrides()) ||
      !sized(getBaseDilations()) || !sized(getWindowDilations()))
    return emitOpError("(C4, C6, C8, C10) a window attribute has not one "
                       "element a dimension");
  if (auto padding = getPadding())
    if (padding->getType().getShape() !=
        ArrayRef<int64_t>({static_cast<int64_t>(rank), 2}))
      return emitOpError("(C12) padding is not [low, high] for each dimension");
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults()))
    for (size_t i = 0; i < rank; ++i) {
      WindowDimension window;
      window.size = getWindowDimensions()[i];
      window.stride = getWindowStrides() ? (*getWindowStrides())[i] : 1;
      window.baseDilation = getBaseDilations() ? (*getBaseDilations())[i] : 1;
      window.windowDilation =
          getWindowDilations() ? (*getWindowDilations())[i] : 1;
      if (auto padding = getPadding()) {
        window.paddingLow = padding->getValues<int64_t>()[2 * i];
        window.paddingHigh = padding->getValues<int64_t>()[2 * i + 1];
      }
      if (window.size < 1)
        return emitOpError("(C5) a window dimension is not positive");
      auto size = windowedSize(tensorOf(input).getDimSize(i), window);
      if (!size || tensorOf(result).getRank() != static_cast<int64_t>(rank) ||
          differ(*size, tensorOf(result).getDimSize(i)))
        return emitOpError("(C7, C9, C11, C15) dimension ")
               << i << " of the result does not follow from the inputs";
    }
  return verifyScalarRegion(*this, getBody(), twice(getInitValues().getTypes()),
                            getResultTypes());
}

LogicalResult BatchNormInferenceOp::verify() {
  auto type = tensorOf(getOperand());
  int64_t feature = getFeatureIndex();
  if (feature >= type.getRank())
    return emitOpError("(C1) feature_index is not a dimension of the operand");
  for (auto [value, label] :
       {std::pair<Value, StringRef>{getScale(), "(C3) scale"},
        {getOffset(), "(C4) offset"},
        {getMean(), "(C5) mean"},
        {getVariance(), "(C6) variance"}}) {
    auto each = tensorOf(value);
    if (each.getRank() != 1 ||
        differ(each.getDimSize(0), type.getDimSize(feature)))
      return emitOpError(label) << " is not one number a feature";
    if (each.getElementType() != type.getElementType())
      return emitOpError("(C2) ")
             << label << " has another element type than the operand";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

static LogicalResult verifyBranch(Operation *op, Region &region) {
  Block &block = region.front();
  if (block.getNumArguments())
    return op->emitOpError("(C1) a branch takes arguments");
  if (block.empty() || !isa<ReturnOp>(block.back()) ||
      !compatibleTypes(block.back().getOperandTypes(), op->getResultTypes()))
    return op->emitOpError("(C2, C3) a branch does not return the results' "
                           "types");
  return success();
}

LogicalResult IfOp::verify() {
  return failure(failed(verifyBranch(*this, getTrueBranch())) ||
                 failed(verifyBranch(*this, getFalseBranch())));
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError("(C1) has no branches");
  for (Region &branch : getBranches())
    if (failed(verifyBranch(*this, branch)))
      return failure();
  return success();
}

LogicalResult WhileOp::verify() {
  if (!compatibleTypes(getOperandTypes(), getResultTypes()))
    return emitOpError("(C3) results differ from operands in type");
  for (Region *region : {&getCond(), &getBody()})
    if (!compatibleTypes(region->front().getArgumentTypes(),
                         getOperandTypes()) ||
        region->front().empty() || !isa<ReturnOp>(region->front().back()))
      return emitOpError("(C1, C2) a region does not take the operands' types "
                         "or does not return");
  TypeRange condition = getCond().front().back().getOperandTypes();
  if (condition.size() != 1 ||
      condition[0] !=
          RankedTensorType::get({}, IntegerType::get(getContext(), 1)))
    return emitOpError("(C1) the condition does not return tensor<i1>");
  if (!compatibleTypes(getBody().front().back().getOperandTypes(),
                       getOperandTypes()))
    return emitOpError("(C2) the body does not return the operands' types");
  return success();
}

FailureOr<SmallVector<Value>> CompositeOp::decompose(OpBuilder &builder) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      *this, getDecompositionAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return failure();
  IRMapping mapping;
  Block &block = callee.getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return failure();
  mapping.map(block.getArguments(), getOperands());
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

} // namespace sinter::stablehlo
