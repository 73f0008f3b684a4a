//===- ProductPrecision.cpp - how exactly a product is to be computed -----===//

#include "graph/ProductPrecision.h"

#include "graph/stablehlo/StablehloOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter {

/// HIGHEST is f32 itself and HIGH three products (XLA's PrecisionConfig); of
/// what is said of two operands the more exact counts.
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

/// The least exact way that is no less exact than the algorithm. One product of
/// bf16 has 8 bits of each operand, as many as its parts or more than those of
/// 8-bit floats; three have 16, which is more than the 11 of f16 and tf32; six
/// have 24, as f32 and three of tf32 do about.
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

/// A text may have anything under this name.
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
