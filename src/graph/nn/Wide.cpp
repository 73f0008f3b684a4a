#include "graph/nn/Wide.h"

#include "graph/Quantization.h"

using namespace mlir;

namespace sinter::nn {

/// Widens the attributes that hold the compute type.
static void widenComputeType(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    auto type = dyn_cast<TypeAttr>(attribute.getValue());
    if (type && isNarrowFloat(type.getValue()))
      op->setAttr(attribute.getName(),
                  TypeAttr::get(Float32Type::get(op->getContext())));
  }
}

/// The float type to compute in for an operand or a result of \p type; null
/// where \p type itself is used.
static Type computeTypeOf(Type type) {
  if (quant::QuantizedType quantized = quantizedOf(type))
    return quantized.getExpressedType();
  return isNarrowFloat(type) ? Type(Float32Type::get(type.getContext()))
                             : Type();
}

/// \p value converted to that type.
static Value toComputeType(TensorBuilder &emit, Value value) {
  Type element = computeTypeOf(value.getType());
  return quantizedOf(value.getType())
             ? emit.make<stablehlo::UniformDequantizeOp>(
                   tensorOf(value).clone(element), value)
             : emit.convert(value, element);
}

/// \p number converted to \p type, with the static sizes of \p number.
static Value fromComputeType(TensorBuilder &emit, Value number, Type type) {
  if (quant::QuantizedType quantized = quantizedOf(type))
    return emit.make<stablehlo::UniformQuantizeOp>(
        tensorOf(number).clone(quantized), number);
  return emit.convert(number, getElementTypeOrSelf(type));
}

std::optional<FailureOr<SmallVector<Value>>>
decomposeInF32(DecomposableOpInterface op, OpBuilder &builder) {
  if (llvm::none_of(op->getOperandTypes(), computeTypeOf))
    return std::nullopt;
  TensorBuilder emit(builder, op->getLoc());
  Operation *wide = builder.clone(*op.getOperation());
  SmallVector<Operation *> conversions;
  builder.setInsertionPoint(wide);
  for (OpOperand &operand : wide->getOpOperands())
    if (computeTypeOf(operand.get().getType())) {
      operand.set(toComputeType(emit, operand.get()));
      conversions.push_back(operand.get().getDefiningOp());
    }
  for (Value result : wide->getResults())
    if (Type element = computeTypeOf(result.getType()))
      result.setType(tensorOf(result).clone(element));
  widenComputeType(wide);
  builder.setInsertionPointAfter(wide);
  FailureOr<SmallVector<Value>> values =
      cast<DecomposableOpInterface>(wide).decompose(builder);
  wide->erase();
  if (failed(values)) {
    for (Operation *conversion : conversions)
      conversion->erase();
    return values;
  }
  for (auto [value, type] : llvm::zip_equal(*values, op->getResultTypes()))
    value = fromComputeType(emit, value, type);
  return values;
}

std::optional<FailureOr<SmallVector<Value>>>
decomposeDequantized(DecomposableOpInterface op, OpBuilder &builder) {
  return llvm::any_of(op->getOperandTypes(), quantizedOf)
             ? decomposeInF32(op, builder)
             : std::nullopt;
}

} // namespace sinter::nn
