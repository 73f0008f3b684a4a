#include "graph/QuantizationParameters.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace sinter {

quant::QuantizedType quantizedOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType())
                : quant::QuantizedType();
}

bool QuantizationParameters::isSymmetric() const {
  return llvm::all_of(zeroPoints, [](int64_t zero) { return zero == 0; });
}

std::optional<QuantizationParameters> parametersOf(quant::QuantizedType type) {
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
    return QuantizationParameters{
        {uniform.getScale()}, {uniform.getZeroPoint()}, -1};
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!perAxis)
    return std::nullopt;
  return QuantizationParameters{llvm::to_vector(perAxis.getScales()),
                                llvm::to_vector(perAxis.getZeroPoints()),
                                perAxis.getQuantizedDimension()};
}

std::optional<QuantizationParameters>
roundedParametersOf(quant::QuantizedType type) {
  std::optional<QuantizationParameters> parameters = parametersOf(type);
  if (parameters)
    for (double &scale : parameters->scales)
      scale = FloatAttr::get(type.getExpressedType(), scale).getValueAsDouble();
  return parameters;
}

bool keepsParameters(Operation *op,
                     llvm::function_ref<std::optional<QuantizationParameters>(
                         quant::QuantizedType)>
                         parameters) {
  quant::QuantizedType result = quantizedOf(op->getResult(0).getType());
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    quant::QuantizedType operand = quantizedOf(type);
    if (!operand || !result)
      return true;
    auto a = parameters(operand), b = parameters(result);
    return a && b && a->scales == b->scales && a->zeroPoints == b->zeroPoints;
  });
}

} // namespace sinter
