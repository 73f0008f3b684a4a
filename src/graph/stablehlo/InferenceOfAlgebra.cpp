// Result type inference of solvers, transforms, normalisation, tuples and
// collectives.

#include "graph/Inference.h"
#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::MulOverflow;

namespace sinter::stablehlo {

SINTER_INFER(CholeskyOp) {
  auto type = tensorOf(operands[0]);
  if (type.getRank() < 2)
    return emitOptionalError(location, "(C2) the operand has fewer than two "
                                       "dimensions");
  if (differ(type.getShape().back(), type.getDimSize(type.getRank() - 2)))
    return emitOptionalError(location, "(C3) the matrices are not square");
  inferredReturnTypes.push_back(type);
  return success();
}

SINTER_INFER(TriangularSolveOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto a = tensorOf(operands[0]), b = tensorOf(operands[1]);
  int64_t rank = a.getRank();
  if (!sameBaselineElement(a, b))
    return emitOptionalError(location, "(C1) a and b have different element "
                                       "types");
  if (rank < 2 || b.getRank() != rank)
    return emitOptionalError(location, "(C2) a and b have not the same two or "
                                       "more dimensions");
  if (failed(verifyCompatibleShape(a.getShape().drop_back(2),
                                   b.getShape().drop_back(2))) ||
      differ(a.getDimSize(rank - 1),
             b.getDimSize(adaptor.getLeftSide() ? rank - 2 : rank - 1)))
    return emitOptionalError(location, "(C3) the shapes of a and b do not "
                                       "match");
  if (differ(a.getDimSize(rank - 1), a.getDimSize(rank - 2)))
    return emitOptionalError(location, "(C3) the matrices a are not square");
  if (adaptor.getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOptionalError(location, "(I6) transpose_a is not NO_TRANSPOSE, "
                                       "TRANSPOSE or ADJOINT");
  inferredReturnTypes.push_back(b);
  return success();
}

SINTER_INFER(FftOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  ArrayRef<int64_t> lengths = adaptor.getFftLength();
  int64_t count = lengths.size();
  FftType kind = adaptor.getFftType();
  if (count < 1 || count > 3)
    return emitOptionalError(location, "(C3) fft_length has not 1 to 3 "
                                       "elements");
  if (count > type.getRank())
    return emitOptionalError(location, "(C1) the operand has fewer dimensions "
                                       "than fft_length elements");
  for (int64_t length : lengths)
    if (length < 0)
      return emitOptionalError(location, "(C4) an element of fft_length is "
                                         "negative");
  bool takesReal = kind == FftType::RFFT;
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  Type real = complex ? complex.getElementType() : type.getElementType();
  if (takesReal == static_cast<bool>(complex) ||
      !(real.isF32() || real.isF64()))
    return emitOptionalError(location, "(C2) ", stringifyFftType(kind),
                             takesReal ? " takes f32 or f64"
                                       : " takes complex<f32> or complex<f64>");
  Dimensions dimensions = dimensionsOf(type);
  MutableArrayRef<Dimension> transformed =
      MutableArrayRef(dimensions).take_back(count);
  bool halves = kind == FftType::IRFFT;
  for (auto [i, dimension] : llvm::enumerate(transformed)) {
    bool isLast = static_cast<int64_t>(i) == count - 1;
    int64_t expected =
        halves && isLast && lengths[i] > 0 ? lengths[i] / 2 + 1 : lengths[i];
    if (!meet(dimension, Dimension{expected}))
      return emitOptionalError(location, "(C4) a transformed dimension has ",
                               dimension.isKnown() ? "size " : "at most ",
                               dimension.most(), " instead of ", expected);
  }
  if (takesReal)
    transformed.back() = {lengths.back() > 0 ? lengths.back() / 2 + 1 : 0};
  if (halves)
    transformed.back() = {lengths.back()};
  inferredReturnTypes.push_back(
      tensorTypeOf(dimensions, halves ? real : Type(ComplexType::get(real))));
  return success();
}

SINTER_INFER(RngOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto a = tensorOf(operands[0]), b = tensorOf(operands[1]);
  if (a.getElementType() != b.getElementType())
    return emitOptionalError(location, "(C1) a and b have different element "
                                       "types");
  if (adaptor.getRngDistribution() == RngDistribution::NORMAL &&
      !isa<FloatType>(a.getElementType()))
    return emitOptionalError(location, "(C2) a normal distribution is one of "
                                       "floating-point numbers");
  auto shapeType = tensorOf(operands[2]);
  if (shapeType.isDynamicDim(0))
    return emitOptionalError(location, "(I3) the rank of the result is not "
                                       "known");
  if (shapeType.getDimSize(0) > mostDimensions)
    return emitOptionalError(location, "(C3) the result has too many "
                                       "dimensions");
  SmallVector<int64_t> shape(shapeType.getDimSize(0), ShapedType::kDynamic);
  DenseIntElementsAttr known;
  if (auto constant = operands[2].getDefiningOp<ConstantOp>())
    known = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (known)
    for (auto [size, value] :
         llvm::zip_equal(shape, known.getValues<APInt>())) {
      if (value.isNegative() || value.getActiveBits() > 62)
        return emitOptionalError(location, "(C3) the shape has a negative "
                                           "size");
      size = value.getZExtValue();
    }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, a.getElementType()));
  return success();
}

SINTER_INFER(SetDimensionSizeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  int64_t dimension = adaptor.getDimension();
  if (dimension >= type.getRank())
    return emitOptionalError(location, "(C1) the dimension is not one of the "
                                       "operand's");
  Dimensions dimensions = dimensionsOf(type);
  const int64_t most = dimensions[dimension].most();
  DenseIntElementsAttr known;
  if (auto constant = operands[1].getDefiningOp<ConstantOp>())
    known = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  bool isWhole = known && !ShapedType::isDynamic(most) &&
                 (*known.getValues<APInt>().begin()).getSExtValue() == most;
  dimensions[dimension] =
      isWhole ? Dimension{most} : Dimension{ShapedType::kDynamic, most};
  inferredReturnTypes.push_back(
      tensorTypeOf(dimensions, type.getElementType()));
  return success();
}

SINTER_INFER(BroadcastOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  Dimensions dimensions;
  for (int64_t size : adaptor.getBroadcastSizes()) {
    if (size < 0)
      return emitOptionalError(location, "a broadcast size is negative");
    dimensions.push_back({size});
  }
  llvm::append_range(dimensions, dimensionsOf(type));
  inferredReturnTypes.push_back(
      tensorTypeOf(dimensions, type.getElementType()));
  return success();
}

SINTER_INFER(CreateTokenOp) {
  inferredReturnTypes.push_back(TokenType::get(context));
  return success();
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

/// The operand's type, then two vectors with one element per feature.
static LogicalResult inferNormalised(std::optional<Location> location,
                                     RankedTensorType type, int64_t feature,
                                     SmallVectorImpl<Type> &types) {
  if (feature >= type.getRank())
    return emitOptionalError(location, "(C1) feature_index is not a dimension "
                                       "of the operand");
  Type vector =
      tensorTypeOf(dimensionsOf(type)[feature], type.getElementType());
  types.append({type, vector, vector});
  return success();
}

SINTER_INFER(BatchNormTrainingOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  return inferNormalised(location, tensorOf(operands[0]),
                         adaptor.getFeatureIndex(), inferredReturnTypes);
}

SINTER_INFER(BatchNormGradOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  return inferNormalised(location, tensorOf(operands[0]),
                         adaptor.getFeatureIndex(), inferredReturnTypes);
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

SINTER_INFER(TupleOp) {
  inferredReturnTypes.push_back(
      TupleType::get(context, SmallVector<Type>(operands.getTypes())));
  return success();
}

SINTER_INFER(GetTupleElementOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = cast<TupleType>(operands[0].getType());
  uint32_t index = adaptor.getIndex();
  if (index >= type.size())
    return emitOptionalError(location, "(C1) index ", index,
                             " is not one of the tuple's ", type.size(),
                             " elements");
  inferredReturnTypes.push_back(type.getType(index));
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

SINTER_INFER(CollectiveBroadcastOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  TypeRange types = operands.getTypes();
  if (adaptor.getHasDynamicRoot() && !types.empty())
    types = types.drop_back();
  llvm::append_range(inferredReturnTypes, types);
  return success();
}

SINTER_INFER(AllToAllOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  int64_t split = adaptor.getSplitDimension();
  int64_t concat = adaptor.getConcatDimension();
  int64_t count = adaptor.getSplitCount();
  for (Value operand : operands) {
    auto type = tensorOf(operand);
    Dimensions dimensions = dimensionsOf(type);
    if (split >= type.getRank())
      return emitOptionalError(location, "(C1) split_dimension is not a "
                                         "dimension of the operands");
    if (concat >= type.getRank())
      return emitOptionalError(location, "(C3) concat_dimension is not a "
                                         "dimension of the operands");
    if (dimensions[split].isKnown() && dimensions[split].size % count != 0)
      return emitOptionalError(location, "(C2) the size of split_dimension "
                                         "is not a multiple of split_count");
    dimensions[split] = *changed(
        dimensions[split],
        [&](int64_t size) -> std::optional<int64_t> { return size / count; });
    std::optional<Dimension> joined = changed(
        dimensions[concat], [&](int64_t size) -> std::optional<int64_t> {
          int64_t product;
          if (MulOverflow(size, count, product))
            return std::nullopt;
          return product;
        });
    if (!joined)
      return emitOptionalError(location, "(C9) the result is too large");
    dimensions[concat] = *joined;
    inferredReturnTypes.push_back(
        tensorTypeOf(dimensions, type.getElementType()));
  }
  return success();
}

} // namespace sinter::stablehlo
