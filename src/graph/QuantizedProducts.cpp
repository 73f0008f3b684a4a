//===- QuantizedProducts.cpp - products of storage elements ---------------===//

#include "graph/QuantizedProducts.h"

#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"

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

} // namespace sinter
