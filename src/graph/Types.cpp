#include "graph/Types.h"

#include "graph/Bounds.h"
#include "graph/Quantization.h"
#include "graph/text/TextOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;

namespace sinter {

bool isOfUnknownSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

bool hasResultOfUnknownSize(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isOfUnknownSize)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isOnUnknownSizes(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isOfUnknownSize) ||
         llvm::any_of(op->getResultTypes(), isOfUnknownSize);
}

bool isStringType(Type type) { return isa<text::StringType>(type); }

bool isStringTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isStringType(tensor.getElementType());
}

bool isNarrowInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() >= 2 && integer.getWidth() <= 8;
}

bool isQuantizedElement(Type type, bool perAxis) {
  auto quantised = dyn_cast<quant::QuantizedType>(type);
  if (!quantised ||
      !llvm::is_contained({2, 4, 8, 16, 32},
                          quantised.getStorageTypeIntegralWidth()) ||
      !isa_and_nonnull<FloatType>(quantised.getExpressedType()) ||
      quantised.getStorageType().isSignedInteger())
    return false;
  const IntegerBounds bounds = boundsOf(quantised);
  auto inRange = [&](int64_t zeroPoint) { return bounds.contains(zeroPoint); };
  // A scale must be a positive value of the expressed type.
  const llvm::fltSemantics &semantics =
      cast<FloatType>(quantised.getExpressedType()).getFloatSemantics();
  const double least = llvm::APFloat::getSmallest(semantics).convertToDouble();
  const double most = llvm::APFloat::getLargest(semantics).convertToDouble();
  auto isScale = [&](double scale) { return scale >= least && scale <= most; };
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
    return !perAxis && inRange(uniform.getZeroPoint()) &&
           isScale(uniform.getScale());
  if (auto uniform = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return perAxis && llvm::all_of(uniform.getZeroPoints(), inRange) &&
           llvm::all_of(uniform.getScales(), isScale);
  return false;
}

bool hasScalePerSlice(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto quantised = tensor ? dyn_cast<quant::UniformQuantizedPerAxisType>(
                                tensor.getElementType())
                          : quant::UniformQuantizedPerAxisType();
  if (!quantised)
    return true;
  int64_t axis = quantised.getQuantizedDimension();
  return axis >= 0 && axis < tensor.getRank() &&
         (tensor.isDynamicDim(axis) ||
          tensor.getDimSize(axis) ==
              static_cast<int64_t>(quantised.getScales().size()));
}

Type baselineElementType(Type type) {
  auto quantised = dyn_cast<quant::QuantizedType>(type);
  if (!quantised || !quantised.getExpressedType())
    return type;
  return quant::UniformQuantizedType::get(
      quantised.getFlags(), quantised.getStorageType(),
      quantised.getExpressedType(), /*scale=*/1, /*zeroPoint=*/0,
      quantised.getStorageTypeMin(), quantised.getStorageTypeMax());
}

/// Whether the types agree, with \p sameElement comparing the element types.
static bool agree(TypeRange inferred, TypeRange actual,
                  llvm::function_ref<bool(Type, Type)> sameElement) {
  if (inferred.size() != actual.size())
    return false;
  for (auto [lhs, rhs] : llvm::zip_equal(inferred, actual)) {
    if (lhs == rhs)
      continue;
    auto lhsTuple = dyn_cast<TupleType>(lhs);
    auto rhsTuple = dyn_cast<TupleType>(rhs);
    if (lhsTuple && rhsTuple &&
        agree(lhsTuple.getTypes(), rhsTuple.getTypes(), sameElement))
      continue;
    auto lhsTensor = dyn_cast<RankedTensorType>(lhs);
    auto rhsTensor = dyn_cast<RankedTensorType>(rhs);
    if (!lhsTensor || !rhsTensor ||
        !sameElement(lhsTensor.getElementType(), rhsTensor.getElementType()) ||
        !meet(lhsTensor, rhsTensor))
      return false;
  }
  return true;
}

bool compatibleTypes(TypeRange inferred, TypeRange actual) {
  return agree(inferred, actual, [](Type lhs, Type rhs) {
    return baselineElementType(lhs) == baselineElementType(rhs);
  });
}

bool compatibleMovedTypes(TypeRange inferred, TypeRange actual) {
  return agree(inferred, actual, [](Type lhs, Type rhs) { return lhs == rhs; });
}

LogicalResult inferElementwise(std::optional<Location> location,
                               ValueRange operands,
                               SmallVectorImpl<Type> &types) {
  auto first = cast<RankedTensorType>(operands.front().getType());
  RankedTensorType shape = first;
  for (Value operand : operands.drop_front()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() != first.getRank())
      return emitOptionalError(location, "operands have different ranks");
    // Usually there is nothing to add; an encoding other than bounds is kept.
    if (type.getShape() == shape.getShape() &&
        type.getEncoding() == shape.getEncoding())
      continue;
    std::optional<Dimensions> both = meet(shape, type);
    if (!both)
      return emitOptionalError(
          location, "operands have different shapes: ", first, " and ", type);
    shape = tensorTypeOf(*both, first.getElementType());
  }
  types.push_back(shape);
  return success();
}

std::optional<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> lhs,
                                                    ArrayRef<int64_t> rhs) {
  auto unbounded = [](ArrayRef<int64_t> sizes) {
    return Dimensions(
        llvm::map_range(sizes, [](int64_t size) { return Dimension{size}; }));
  };
  std::optional<Dimensions> both = broadcast(unbounded(lhs), unbounded(rhs));
  if (!both)
    return std::nullopt;
  return sizesOf(*both);
}

std::optional<ElementType> elementTypeOf(Type type) {
  if (auto quantised = dyn_cast<quant::QuantizedType>(type))
    type = storageOf(quantised);
  if (type.isIndex())
    return ElementType::I64;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return ElementType::I1;
    case 2:
      return isUnsigned ? ElementType::UI2 : ElementType::I2;
    case 4:
      return isUnsigned ? ElementType::UI4 : ElementType::I4;
    case 8:
      return isUnsigned ? ElementType::UI8 : ElementType::I8;
    case 16:
      return isUnsigned ? ElementType::UI16 : ElementType::I16;
    case 32:
      return isUnsigned ? ElementType::UI32 : ElementType::I32;
    case 64:
      return isUnsigned ? ElementType::UI64 : ElementType::I64;
    default:
      return std::nullopt;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return ElementType::C64;
    if (complex.getElementType().isF64())
      return ElementType::C128;
    return std::nullopt;
  }
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(type)
      .Case<Float8E4M3Type>([](Type) { return ElementType::F8E4M3; })
      .Case<Float8E4M3FNType>([](Type) { return ElementType::F8E4M3FN; })
      .Case<Float8E4M3FNUZType>([](Type) { return ElementType::F8E4M3FNUZ; })
      .Case<Float8E4M3B11FNUZType>(
          [](Type) { return ElementType::F8E4M3B11FNUZ; })
      .Case<Float8E5M2Type>([](Type) { return ElementType::F8E5M2; })
      .Case<Float8E5M2FNUZType>([](Type) { return ElementType::F8E5M2FNUZ; })
      .Case<BFloat16Type>([](Type) { return ElementType::BF16; })
      .Case<Float16Type>([](Type) { return ElementType::F16; })
      .Case<Float32Type>([](Type) { return ElementType::F32; })
      .Case<Float64Type>([](Type) { return ElementType::F64; })
      .Case<text::StringType>([](Type) { return ElementType::STRING; })
      .Default([](Type) { return std::nullopt; });
}

Type mlirTypeOf(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::F8E4M3:
    return Float8E4M3Type::get(context);
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case ElementType::F8E4M3B11FNUZ:
    return Float8E4M3B11FNUZType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::C64:
    return ComplexType::get(Float32Type::get(context));
  case ElementType::C128:
    return ComplexType::get(Float64Type::get(context));
  case ElementType::STRING:
    return text::StringType::get(context);
  default:
    return IntegerType::get(context, bitWidth(type),
                            classOf(type) == ElementClass::UInt
                                ? IntegerType::Unsigned
                                : IntegerType::Signless);
  }
}

RankedTensorType tensorTypeOf(ElementType type, ArrayRef<int64_t> shape,
                              MLIRContext *context) {
  return RankedTensorType::get(shape, mlirTypeOf(type, context));
}

} // namespace sinter
