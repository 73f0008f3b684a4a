//===- QuantizedProducts.cpp - which products are taken in integers -------===//

#include "graph/QuantizedProducts.h"

#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter {

/// The dimension of the product \p op's result that dimension \p dim of its
/// right operand becomes.
static std::optional<int64_t> resultDimension(Operation *op, int64_t dim) {
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto numbers = convolution.getDimensionNumbers();
    if (dim != numbers.getKernelOutputFeatureDimension())
      return std::nullopt;
    return numbers.getOutputFeatureDimension();
  }
  auto numbers = cast<stablehlo::DotGeneralOp>(op).getDotDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getRhsContractingDimensions();
  if (llvm::is_contained(contracting, dim))
    return std::nullopt;
  if (auto *found = llvm::find(batching, dim); found != batching.end())
    return found - batching.begin();
  // The right operand's own dimensions are the result's last, in order.
  auto rhs = cast<RankedTensorType>(op->getOperand(1).getType());
  int64_t position =
      cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  for (int64_t i = rhs.getRank() - 1; i >= dim; --i)
    if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
      --position;
  return position;
}

std::optional<ProductScales> productScales(Operation *op,
                                           quant::QuantizedType lhs,
                                           quant::QuantizedType rhs) {
  auto left = dyn_cast_or_null<quant::UniformQuantizedType>(lhs);
  if (!left || !isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
    return std::nullopt;
  if (auto right = dyn_cast_or_null<quant::UniformQuantizedType>(rhs))
    return ProductScales{{left.getScale() * right.getScale()}, -1};
  auto right = dyn_cast_or_null<quant::UniformQuantizedPerAxisType>(rhs);
  std::optional<int64_t> axis =
      right ? resultDimension(op, right.getQuantizedDimension()) : std::nullopt;
  if (!axis)
    return std::nullopt;
  ProductScales scales;
  scales.axis = *axis;
  for (double scale : right.getScales())
    scales.factors.push_back(left.getScale() * scale);
  return scales;
}

} // namespace sinter
