//===- QuantizedProducts.cpp - quantised matmuls and convolutions ---------===//

#include "graph/QuantizedProducts.h"

#include "graph/ExactSums.h"
#include "graph/Quantization.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"

#include <cmath>

using namespace mlir;

namespace sinter {

std::optional<ProductScales>
productScales(Operation *op, ArrayRef<quant::QuantizedType> operands) {
  if (!isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp, stablehlo::DotOp,
           stablehlo::EinsumOp, stablehlo::UnaryEinsumOp>(op))
    return std::nullopt;
  double factor = 1;
  for (quant::QuantizedType type : operands.drop_back()) {
    auto uniform = dyn_cast_or_null<quant::UniformQuantizedType>(type);
    if (!uniform)
      return std::nullopt;
    factor *= uniform.getScale();
  }
  quant::QuantizedType last = operands.back();
  if (auto uniform = dyn_cast_or_null<quant::UniformQuantizedType>(last))
    return ProductScales{{factor * uniform.getScale()}, -1};
  auto perAxis = dyn_cast_or_null<quant::UniformQuantizedPerAxisType>(last);
  if (!perAxis)
    return std::nullopt;
  std::optional<Axes> axes = axesOf(op);
  std::optional<int64_t> axis =
      axes
          ? axes->resultOf(operands.size() - 1, perAxis.getQuantizedDimension())
          : std::nullopt;
  if (!axis)
    return std::nullopt;
  ProductScales scales;
  scales.axis = *axis;
  for (double scale : perAxis.getScales())
    scales.factors.push_back(factor * scale);
  return scales;
}

bool areScalesOfSums(const QuantizationParameters &parameters,
                     const ProductScales &factors) {
  return parameters.isSymmetric() &&
         parameters.scales.size() == factors.factors.size() &&
         parameters.axis == factors.axis &&
         llvm::all_of(llvm::zip_equal(parameters.scales, factors.factors),
                      [](auto pair) {
                        auto [scale, factor] = pair;
                        return std::abs(scale - factor) <= 1e-6 * factor;
                      });
}

bool hasScalesOfSums(Operation *op) {
  quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
  auto factors = productScales(
      op, llvm::map_to_vector(op->getOperandTypes(), quantizedOf));
  auto parameters = type ? parametersOf(type) : std::nullopt;
  return factors && parameters && areScalesOfSums(*parameters, *factors);
}

//===----------------------------------------------------------------------===//
// The form that a product was raised from
//===----------------------------------------------------------------------===//

static constexpr StringLiteral rescaledForm = "qlinear", sumsForm = "integer";

bool isShiftForProducts(Operation *op) {
  auto shift = dyn_cast<stablehlo::UniformQuantizeOp>(op);
  return shift && beforeShift(shift) != shift.getResult() &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(user);
         });
}

void setProductForm(Operation *op, ProductForm form) {
  op->setDiscardableAttr(
      productFormAttribute,
      StringAttr::get(op->getContext(),
                      form == ProductForm::Rescaled ? rescaledForm : sumsForm));
}

std::optional<ProductForm> productFormOf(Operation *op) {
  auto form = dyn_cast_or_null<StringAttr>(
      op->getDiscardableAttr(productFormAttribute));
  if (!form || !isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op) ||
      (form.getValue() != rescaledForm && form.getValue() != sumsForm))
    return std::nullopt;
  quant::QuantizedType lhs = quantizedOf(op->getOperand(0).getType()),
                       rhs = quantizedOf(op->getOperand(1).getType()),
                       sum = quantizedOf(op->getResult(0).getType());
  auto i32 = IntegerType::get(op->getContext(), 32);
  if (!lhs || !rhs || !sum || storageOf(sum) != i32 ||
      boundsOf(sum) != boundsOf(i32) || !hasScalesOfSums(op))
    return std::nullopt;
  std::optional<double> count = productsPerSum(op);
  if (!count || !holds(i32, IntegerRange::ofSums(centredRange(lhs),
                                                 centredRange(rhs), *count)))
    return std::nullopt;
  return form.getValue() == rescaledForm ? ProductForm::Rescaled
                                         : ProductForm::Sums;
}

} // namespace sinter
