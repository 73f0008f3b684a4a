// Result type inference from operands and attributes.

#include "graph/Inference.h"
#include "graph/PermutedType.h"
#include "graph/Quantization.h"
#include "graph/stablehlo/Verify.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::AddOverflow;
using llvm::MulOverflow;

namespace sinter::stablehlo {

/// \p type with another element type and without quantisation parameters.
static Type withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

bool compatibleConstantTypes(TypeRange written, TypeRange actual) {
  if (compatibleMovedTypes(written, actual))
    return true;
  return quantizedOf(actual.front()) &&
         written.front() == storageOf(cast<RankedTensorType>(actual.front()));
}

SINTER_INFER(ConstantOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  // MLIR parses literals of types that it cannot represent as strings;
  // quantised types have no literals. Only strings are strings.
  Type element = adaptor.getValue().getElementType();
  const bool areStrings = isa<DenseStringElementsAttr>(adaptor.getValue());
  if (isStringType(element) && !areStrings)
    return emitOptionalError(location, "the elements are no strings");
  if ((areStrings && !isStringType(element)) ||
      isa<quant::QuantizedType>(element))
    return emitOptionalError(location,
                             "the elements are no numbers; those of a "
                             "quantised type stand in its storage type");
  inferredReturnTypes.push_back(adaptor.getValue().getType());
  return success();
}

SINTER_INFER(AbsOp) {
  auto type = tensorOf(operands[0]);
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  inferredReturnTypes.push_back(
      complex ? withElement(type, complex.getElementType()) : Type(type));
  return success();
}

SINTER_INFER(RealOp) {
  auto type = tensorOf(operands[0]);
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  inferredReturnTypes.push_back(
      complex ? withElement(type, complex.getElementType()) : Type(type));
  return success();
}

SINTER_INFER(ImagOp) {
  return RealOp::inferReturnTypes(context, location, operands, attributes,
                                  properties, regions, inferredReturnTypes);
}

SINTER_INFER(IsFiniteOp) {
  inferredReturnTypes.push_back(
      withElement(tensorOf(operands[0]), IntegerType::get(context, 1)));
  return success();
}

SINTER_INFER(UniformDequantizeOp) {
  auto type = tensorOf(operands[0]);
  quant::QuantizedType quantised = quantizedOf(type);
  if (!quantised)
    return emitOptionalError(location, "(I1) the operand is not quantised");
  inferredReturnTypes.push_back(
      withElement(type, quantised.getExpressedType()));
  return success();
}

SINTER_INFER(ComplexOp) {
  auto type = tensorOf(operands[0]), rhs = tensorOf(operands[1]);
  if (type.getElementType() != rhs.getElementType())
    return emitOptionalError(location, "(C1) lhs and rhs have different "
                                       "element types");
  inferredReturnTypes.push_back(
      withElement(type, ComplexType::get(type.getElementType())));
  return success();
}

SINTER_INFER(CompareOp) {
  SmallVector<Type> types;
  if (failed(inferElementwise(location, operands, types)))
    return failure();
  inferredReturnTypes.push_back(
      cast<RankedTensorType>(types[0]).clone(IntegerType::get(context, 1)));
  return success();
}

SINTER_INFER(SelectOp) {
  auto pred = tensorOf(operands[0]);
  SmallVector<Value> shaped = {operands[1], operands[2]};
  if (failed(inferElementwise(location, shaped, inferredReturnTypes)))
    return failure();
  if (!sameBaselineElement(operands[1].getType(), operands[2].getType()))
    return emitOptionalError(location, "(C2) on_true and on_false have "
                                       "different element types");
  if (pred.getRank() != 0 &&
      failed(verifyCompatibleShape(pred, tensorOf(operands[1]))))
    return emitOptionalError(location, "(C1) the predicate is neither a scalar "
                                       "nor of the operands' shape");
  return success();
}

SINTER_INFER(ClampOp) {
  auto type = tensorOf(operands[1]);
  for (unsigned i : {0u, 2u}) {
    auto bound = tensorOf(operands[i]);
    if (bound.getRank() != 0 && failed(verifyCompatibleShape(bound, type)))
      return emitOptionalError(location, i == 0 ? "(C1) min" : "(C2) max",
                               " is neither a scalar nor of the operand's "
                               "shape");
    if (!sameBaselineElement(bound, type))
      return emitOptionalError(
          location, "(C3) the bounds have another element type than the "
                    "operand");
  }
  inferredReturnTypes.push_back(type);
  return success();
}

SINTER_INFER(GetDimensionSizeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (static_cast<int64_t>(adaptor.getDimension()) >=
      tensorOf(operands[0]).getRank())
    return emitOptionalError(location, "(C1) dimension is not one of the "
                                       "operand's");
  inferredReturnTypes.push_back(
      RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

SINTER_INFER(TransposeOp) {
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
  const Dimensions dimensions = dimensionsOf(type);
  inferredReturnTypes.push_back(
      tensorTypeOf(llvm::map_to_vector(
                       permutation, [&](int64_t i) { return dimensions[i]; }),
                   permutedType(type, permutation).getElementType()));
  return success();
}

SINTER_INFER(SliceOp) {
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
  for (auto [i, dimension] : llvm::enumerate(dimensionsOf(type))) {
    if (starts[i] < 0 || starts[i] > limits[i] ||
        (!ShapedType::isDynamic(dimension.most()) &&
         limits[i] > dimension.most()))
      return emitOptionalError(location, "(C3) dimension ", i,
                               ": not 0 <= start <= limit <= ",
                               dimension.isKnown() ? "size" : "bound");
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

SINTER_INFER(DynamicSliceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  size_t rank = type.getRank();
  if (sizes.size() != rank || adaptor.getStartIndices().size() != rank)
    return emitOptionalError(location, "(C2) start indices and slice sizes "
                                       "have not one element a dimension");
  if (!llvm::all_equal(adaptor.getStartIndices().getTypes()))
    return emitOptionalError(location, "(C3) start indices differ in type");
  for (size_t i = 0; i < rank; ++i)
    if (sizes[i] < 0 ||
        (!type.isDynamicDim(i) && sizes[i] > type.getDimSize(i)))
      return emitOptionalError(location, "(C4) dimension ", i,
                               ": not 0 <= slice size <= size");
  inferredReturnTypes.push_back(
      RankedTensorType::get(sizes, type.getElementType()));
  return success();
}

SINTER_INFER(DynamicUpdateSliceOp) {
  auto type = tensorOf(operands[0]);
  auto update = tensorOf(operands[1]);
  TypeRange starts = operands.drop_front(2).getTypes();
  if (update.getElementType() != type.getElementType())
    return emitOptionalError(location, "(C2) update has another element type "
                                       "than the operand");
  if (update.getRank() != type.getRank())
    return emitOptionalError(location, "(C3) update has another rank than the "
                                       "operand");
  if (static_cast<int64_t>(starts.size()) != type.getRank())
    return emitOptionalError(location, "(C4) start indices have not one "
                                       "element a dimension");
  if (!llvm::all_equal(starts))
    return emitOptionalError(location, "(C5) start indices differ in type");
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!type.isDynamicDim(i) && !update.isDynamicDim(i) &&
        update.getDimSize(i) > type.getDimSize(i))
      return emitOptionalError(location, "(C6) dimension ", i,
                               ": the update is larger than the operand");
  inferredReturnTypes.push_back(type);
  return success();
}

/// The padded size; nothing if it is negative or overflows.
static std::optional<int64_t> paddedSize(int64_t size, int64_t low,
                                         int64_t high, int64_t interior) {
  int64_t between;
  if (MulOverflow(std::max<int64_t>(size - 1, 0), interior, between) ||
      AddOverflow(size, between, size) || AddOverflow(size, low, size) ||
      AddOverflow(size, high, size) || size < 0)
    return std::nullopt;
  return size;
}

SINTER_INFER(PadOp) {
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
  Dimensions dimensions = dimensionsOf(type);
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    if (interior[i] < 0)
      return emitOptionalError(location, "(C3) dimension ", i,
                               ": the interior padding is negative");
    std::optional<Dimension> padded =
        changed(dimension, [&, i = i](int64_t size) {
          return paddedSize(size, low[i], high[i], interior[i]);
        });
    if (!padded)
      return emitOptionalError(location, "(C4) dimension ", i, ": the padded ",
                               dimension.isKnown() ? "size" : "bound",
                               " is negative or too large");
    dimension = *padded;
  }
  inferredReturnTypes.push_back(
      tensorTypeOf(dimensions, type.getElementType()));
  return success();
}

SINTER_INFER(ReverseOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  if (!isUnique(adaptor.getDimensions()))
    return emitOptionalError(location, "(C2) a dimension stands twice");
  if (!isWithin(adaptor.getDimensions(), type.getRank()))
    return emitOptionalError(location, "(C3) dimensions are not dimensions of "
                                       "the operand");
  inferredReturnTypes.push_back(type);
  return success();
}

SINTER_INFER(ConcatenateOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.empty())
    return emitOptionalError(location, "(C3) no inputs");
  auto first = tensorOf(operands[0]);
  int64_t dimension = adaptor.getDimension();
  if (dimension >= first.getRank())
    return emitOptionalError(location, "(C4) the dimension is not one of the "
                                       "inputs'");
  Dimensions joined = dimensionsOf(first);
  for (Value operand : operands.drop_front()) {
    auto type = tensorOf(operand);
    if (type.getElementType() != first.getElementType())
      return emitOptionalError(location, "(C1) inputs differ in element type");
    if (type.getRank() != first.getRank())
      return emitOptionalError(location, "(C2) inputs differ in rank");
    for (auto [i, next] : llvm::enumerate(dimensionsOf(type))) {
      bool grows = static_cast<int64_t>(i) == dimension;
      auto both = grows ? appended(joined[i], next) : meet(joined[i], next);
      if (!both && grows)
        return emitOptionalError(location, "(C6) the result is too large");
      if (!both)
        return emitOptionalError(location, "(C2) inputs differ in dimension ",
                                 i, ": ", first, " and ", type);
      joined[i] = *both;
    }
  }
  inferredReturnTypes.push_back(tensorTypeOf(joined, first.getElementType()));
  return success();
}

SINTER_INFER(GatherOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  std::optional<Dimensions> shape = inferGather(
      location, tensorOf(operands[0]), tensorOf(operands[1]),
      adaptor.getDimensionNumbers(), adaptor.getSliceSizes(), gatherLabels);
  if (!shape)
    return failure();
  inferredReturnTypes.push_back(
      tensorTypeOf(*shape, tensorOf(operands[0]).getElementType()));
  return success();
}

SINTER_INFER(BatchNormInferenceOp) {
  inferredReturnTypes.push_back(operands[0].getType());
  return success();
}

} // namespace sinter::stablehlo
