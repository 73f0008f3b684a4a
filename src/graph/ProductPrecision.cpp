//===- ProductPrecision.cpp - the precision of matmuls and convolutions ---===//

#include "graph/ProductPrecision.h"

#include "graph/stablehlo/StablehloOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter {

/// HIGHEST is f32 and HIGH three bf16 products (XLA's PrecisionConfig). The
/// more exact of two operands' settings counts.
static std::optional<Precision> ofConfig(ArrayAttr config) {
  std::optional<Precision> asked;
  for (auto each : config.getAsRange<stablehlo::PrecisionAttr>()) {
    if (each.getValue() == stablehlo::Precision::HIGHEST)
      return Precision::Exact;
    if (each.getValue() == stablehlo::Precision::HIGH)
      asked = Precision::Default;
  }
  return asked;
}

/// The least exact precision that is no less exact than the algorithm. One bf16
/// product keeps 8 bits of each operand, at least as many as 8-bit floats have;
/// three keep 16, more than the 11 of f16 and tf32; six keep 24, about as many
/// as f32 and three tf32 products.
static Precision ofAlgorithm(stablehlo::DotAlgorithmAttr algorithm) {
  const int64_t operations = algorithm.getNumPrimitiveOperations();
  const Type type = algorithm.getLhsPrecisionType();
  if (type.getIntOrFloatBitWidth() == 8)
    return Precision::BFloat16;
  if (type.isF16())
    return Precision::Default;
  if (type.isBF16())
    return operations == 1   ? Precision::BFloat16
           : operations == 3 ? Precision::Default
                             : Precision::Exact;
  return type.isTF32() && operations == 1 ? Precision::Default
                                          : Precision::Exact;
}

/// IR text may have anything under this name.
static std::optional<Precision> ofAttribute(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>(precisionAttribute);
  return text ? precisionNamed(text.getValue()) : std::nullopt;
}

std::optional<Precision> askedPrecision(Operation *op) {
  if (std::optional<Precision> given = ofAttribute(op))
    return given;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    if (stablehlo::DotAlgorithmAttr algorithm = dot.getAlgorithmAttr())
      return ofAlgorithm(algorithm);
  if (auto config = op->getAttrOfType<ArrayAttr>("precision_config"))
    return ofConfig(config);
  return std::nullopt;
}

Precision precisionOf(Operation *op) {
  return ofAttribute(op).value_or(Precision::Default);
}

void setPrecision(Operation *op, Precision precision) {
  op->setDiscardableAttr(precisionAttribute,
                         StringAttr::get(op->getContext(), name(precision)));
}

} // namespace sinter
