// Result types that follow from operands and attributes.

#include "graph/stablehlo/Verify.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::AddOverflow;
using llvm::MulOverflow;

namespace sinter::stablehlo {

#define INFER(Op)                                                              \
  LogicalResult Op::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> location,                  \
      ValueRange operands, DictionaryAttr attributes,                          \
      OpaqueProperties properties, RegionRange regions,                        \
      SmallVectorImpl<Type> &inferredReturnTypes)

/// \p type with another element type and without parameters of quantisation.
static Type withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

INFER(AbsOp) {
  auto type = tensorOf(operands[0]);
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  inferredReturnTypes.push_back(
      complex ? withElement(type, complex.getElementType()) : Type(type));
  return success();
}

INFER(RealOp) {
  auto type = tensorOf(operands[0]);
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  inferredReturnTypes.push_back(
      complex ? withElement(type, complex.getElementType()) : Type(type));
  return success();
}

INFER(ImagOp) {
  return RealOp::inferReturnTypes(context, location, operands, attributes,
                                  properties, regions, inferredReturnTypes);
}

INFER(IsFiniteOp) {
  inferredReturnTypes.push_back(
      withElement(tensorOf(operands[0]), IntegerType::get(context, 1)));
  return success();
}

INFER(UniformDequantizeOp) {
  auto type = tensorOf(operands[0]);
  auto quantised = cast<quant::QuantizedType>(type.getElementType());
  inferredReturnTypes.push_back(
      withElement(type, quantised.getExpressedType()));
  return success();
}

INFER(ComplexOp) {
  auto type = tensorOf(operands[0]), rhs = tensorOf(operands[1]);
  if (type.getElementType() != rhs.getElementType())
    return emitOptionalError(location, "(C1) lhs and rhs have different "
                                       "element types");
  inferredReturnTypes.push_back(
      withElement(type, ComplexType::get(type.getElementType())));
  return success();
}

INFER(CompareOp) {
  SmallVector<Type> types;
  if (failed(inferElementwise(location, operands, types)))
    return failure();
  inferredReturnTypes.push_back(
      cast<RankedTensorType>(types[0]).clone(IntegerType::get(context, 1)));
  return success();
}

INFER(SelectOp) {
  auto pred = tensorOf(operands[0]);
  SmallVector<Value> shaped = {operands[1], operands[2]};
  if (failed(inferElementwise(location, shaped, inferredReturnTypes)))
    return failure();
  if (tensorOf(operands[1]).getElementType() !=
      tensorOf(operands[2]).getElementType())
    return emitOptionalError(location, "(C2) on_true and on_false have "
                                       "different element types");
  if (pred.getRank() != 0 &&
      failed(verifyCompatibleShape(pred, inferredReturnTypes[0])))
    return emitOptionalError(location, "(C1) the predicate is neither a scalar "
                                       "nor of the operands' shape");
  return success();
}

INFER(ClampOp) {
  auto type = tensorOf(operands[1]);
  for (unsigned i : {0u, 2u}) {
    auto bound = tensorOf(operands[i]);
    if (bound.getRank() != 0 && failed(verifyCompatibleShape(bound, type)))
      return emitOptionalError(location, i == 0 ? "(C1) min" : "(C2) max",
                               " is neither a scalar nor of the operand's "
                               "shape");
    if (bound.getElementType() != type.getElementType())
      return emitOptionalError(
          location, "(C3) the bounds have another element type than the "
                    "operand");
  }
  inferredReturnTypes.push_back(type);
  return success();
}

INFER(GetDimensionSizeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (static_cast<int64_t>(adaptor.getDimension()) >=
      tensorOf(operands[0]).getRank())
    return emitOptionalError(location, "(C1) dimension is not one of the "
                                       "operand's");
  inferredReturnTypes.push_back(
      RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

INFER(TransposeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  bool inRange = llvm::all_of(permutation, [&](int64_t dimension) {
    return dimension >= 0 && dimension < type.getRank();
  });
  if (!inRange || !isPermutationVector(permutation) ||
      static_cast<int64_t>(permutation.size()) != type.getRank())
    return emitOptionalError(location, "(C2) the permutation is not one of the "
                                       "operand's dimensions");
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(type.getDimSize(dimension));
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, type.getElementType()));
  return success();
}

INFER(SliceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  ArrayRef<int64_t> starts = adaptor.getStartIndices();
  ArrayRef<int64_t> limits = adaptor.getLimitIndices();
  ArrayRef<int64_t> strides = adaptor.getStrides();
  size_t rank = type.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return emitOptionalError(location, "(C2) start, limit and stride have not "
                                       "one element a dimension");
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = type.getDimSize(i);
    if (starts[i] < 0 || starts[i] > limits[i] ||
        (!ShapedType::isDynamic(size) && limits[i] > size))
      return emitOptionalError(location, "(C3) dimension ", i,
                               ": not 0 <= start <= limit <= size");
    if (strides[i] < 1)
      return emitOptionalError(location, "(C4) dimension ", i,
                               ": the stride is not positive");
    shape.push_back(llvm::divideCeil(
        static_cast<uint64_t>(limits[i] - starts[i]), strides[i]));
  }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, type.getElementType()));
  return success();
}

INFER(DynamicSliceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  size_t rank = type.getRank();
  if (sizes.size() != rank || adaptor.getStartIndices().size() != rank)
    return emitOptionalError(location, "(C2) start indices and slice sizes "
                                       "have not one element a dimension");
  for (size_t i = 0; i < rank; ++i)
    if (sizes[i] < 0 ||
        (!type.isDynamicDim(i) && sizes[i] > type.getDimSize(i)))
      return emitOptionalError(location, "(C4) dimension ", i,
                               ": not 0 <= slice size <= size");
  inferredReturnTypes.push_back(
      RankedTensorType::get(sizes, type.getElementType()));
  return success();
}

INFER(DynamicUpdateSliceOp) {
  auto type = tensorOf(operands[0]);
  auto update = tensorOf(operands[1]);
  if (update.getRank() != type.getRank() ||
      static_cast<int64_t>(operands.size()) - 2 != type.getRank())
    return emitOptionalError(location, "(C3) update and start indices do not "
                                       "match the operand's rank");
  if (update.getElementType() != type.getElementType())
    return emitOptionalError(location, "(C2) update has another element type "
                                       "than the operand");
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!type.isDynamicDim(i) && !update.isDynamicDim(i) &&
        update.getDimSize(i) > type.getDimSize(i))
      return emitOptionalError(location, "(C6) dimension ", i,
                               ": the update is larger than the operand");
  inferredReturnTypes.push_back(type);
  return success();
}

INFER(PadOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  auto value = tensorOf(operands[1]);
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow();
  ArrayRef<int64_t> high = adaptor.getEdgePaddingHigh();
  ArrayRef<int64_t> interior = adaptor.getInteriorPadding();
  size_t rank = type.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return emitOptionalError(location, "(C2) padding has not one element a "
                                       "dimension");
  if (value.getRank() != 0 || value.getElementType() != type.getElementType())
    return emitOptionalError(location, "(C1) the padding value is not a scalar "
                                       "of the operand's element type");
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    if (interior[i] < 0)
      return emitOptionalError(location, "(C3) dimension ", i,
                               ": the interior padding is negative");
    int64_t size = type.getDimSize(i);
    if (!ShapedType::isDynamic(size)) {
      int64_t between;
      if (MulOverflow(std::max<int64_t>(size - 1, 0), interior[i], between) ||
          AddOverflow(size, between, size) || AddOverflow(size, low[i], size) ||
          AddOverflow(size, high[i], size) || size < 0)
        return emitOptionalError(location, "(C4) dimension ", i,
                                 ": the padded size is negative or too large");
    }
    shape.push_back(size);
  }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, type.getElementType()));
  return success();
}

INFER(ReverseOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dimension : adaptor.getDimensions())
    if (dimension < 0 || dimension >= type.getRank() ||
        !seen.insert(dimension).second)
      return emitOptionalError(location, "(C2, C3) dimensions are not distinct "
                                         "dimensions of the operand");
  inferredReturnTypes.push_back(type);
  return success();
}

INFER(ConcatenateOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.empty())
    return emitOptionalError(location, "(C3) no inputs");
  auto first = tensorOf(operands[0]);
  int64_t dimension = adaptor.getDimension();
  if (dimension >= first.getRank())
    return emitOptionalError(location, "(C4) the dimension is not one of the "
                                       "inputs'");
  SmallVector<int64_t> shape(first.getShape());
  for (Value operand : operands.drop_front()) {
    auto type = tensorOf(operand);
    if (type.getElementType() != first.getElementType() ||
        type.getRank() != first.getRank())
      return emitOptionalError(location, "(C1, C2) inputs differ in element "
                                         "type or rank");
    for (int64_t i = 0; i < type.getRank(); ++i) {
      int64_t size = type.getDimSize(i);
      if (i == dimension) {
        if (ShapedType::isDynamic(size) || ShapedType::isDynamic(shape[i]))
          shape[i] = ShapedType::kDynamic;
        else if (AddOverflow(shape[i], size, shape[i]))
          return emitOptionalError(location, "the result is too large");
      } else if (ShapedType::isDynamic(shape[i])) {
        shape[i] = size;
      } else if (!ShapedType::isDynamic(size) && size != shape[i]) {
        return emitOptionalError(location, "(C2) inputs differ in dimension ",
                                 i);
      }
    }
  }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, first.getElementType()));
  return success();
}

INFER(GatherOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto operand = tensorOf(operands[0]);
  auto indices = tensorOf(operands[1]);
  auto numbers = adaptor.getDimensionNumbers();
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  int64_t vectorDim = numbers.getIndexVectorDim();
  if (static_cast<int64_t>(sizes.size()) != operand.getRank())
    return emitOptionalError(location, "(C11) slice_sizes has not one element "
                                       "a dimension of the operand");
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return emitOptionalError(location, "(C2) index_vector_dim is not a "
                                       "dimension of start_indices");
  auto within = [](ArrayRef<int64_t> list, int64_t rank) {
    llvm::SmallDenseSet<int64_t> seen;
    return llvm::all_of(list, [&](int64_t dimension) {
      return dimension >= 0 && dimension < rank &&
             seen.insert(dimension).second;
    });
  };
  int64_t rank = operand.getRank();
  if (!within(numbers.getCollapsedSliceDims(), rank) ||
      !within(numbers.getOperandBatchingDims(), rank) ||
      !within(numbers.getStartIndexMap(), rank) ||
      !within(numbers.getStartIndicesBatchingDims(), indices.getRank()) ||
      numbers.getOperandBatchingDims().size() !=
          numbers.getStartIndicesBatchingDims().size())
    return emitOptionalError(location, "(C8 to C19) the dimension numbers are "
                                       "not distinct dimensions");
  int64_t indexSize =
      vectorDim == indices.getRank() ? 1 : indices.getDimSize(vectorDim);
  if (!ShapedType::isDynamic(indexSize) &&
      static_cast<int64_t>(numbers.getStartIndexMap().size()) != indexSize)
    return emitOptionalError(location, "(C3) start_index_map has not one "
                                       "element an index component");
  SmallVector<int64_t> windowSizes;
  for (int64_t i = 0; i < rank; ++i) {
    bool dropped = llvm::is_contained(numbers.getCollapsedSliceDims(), i) ||
                   llvm::is_contained(numbers.getOperandBatchingDims(), i);
    if (sizes[i] < 0 || (dropped && sizes[i] > 1) ||
        (!operand.isDynamicDim(i) && sizes[i] > operand.getDimSize(i)))
      return emitOptionalError(location, "(C12) dimension ", i,
                               ": the slice size does not fit");
    if (!dropped)
      windowSizes.push_back(sizes[i]);
  }
  SmallVector<int64_t> batchSizes;
  for (int64_t i = 0; i < indices.getRank(); ++i)
    if (i != vectorDim)
      batchSizes.push_back(indices.getDimSize(i));
  int64_t resultRank = windowSizes.size() + batchSizes.size();
  if (windowSizes.size() != numbers.getOffsetDims().size() ||
      !within(numbers.getOffsetDims(), resultRank))
    return emitOptionalError(location, "(C1, C4, C5) offset_dims are not the "
                                       "slices' dimensions in the result");
  SmallVector<int64_t> shape;
  auto window = windowSizes.begin();
  auto batch = batchSizes.begin();
  for (int64_t i = 0; i < resultRank; ++i)
    shape.push_back(llvm::is_contained(numbers.getOffsetDims(), i) ? *window++
                                                                   : *batch++);
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, operand.getElementType()));
  return success();
}

INFER(BatchNormInferenceOp) {
  inferredReturnTypes.push_back(operands[0].getType());
  return success();
}

} // namespace sinter::stablehlo
