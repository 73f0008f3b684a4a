//===- QuantizedProducts.cpp - products of storage elements ---------------===//

#include "graph/QuantizedProducts.h"

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter {

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// The dimension of the result that dimension \p dim of the right operand
/// becomes; nothing if it is summed over.
static std::optional<int64_t> placeIn(stablehlo::ConvolutionOp op,
                                      int64_t dim) {
  auto numbers = op.getDimensionNumbers();
  if (dim != numbers.getKernelOutputFeatureDimension())
    return std::nullopt;
  return numbers.getOutputFeatureDimension();
}

static std::optional<int64_t> placeIn(stablehlo::DotGeneralOp op, int64_t dim) {
  auto numbers = op.getDotDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getRhsContractingDimensions();
  if (llvm::is_contained(contracting, dim))
    return std::nullopt;
  if (auto *found = llvm::find(batching, dim); found != batching.end())
    return found - batching.begin();
  // The right operand's own dimensions are the result's last, in order.
  int64_t position = rankOf(op.getResult());
  for (int64_t i = rankOf(op.getRhs()) - 1; i >= dim; --i)
    if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
      --position;
  return position;
}

static std::optional<int64_t> placeIn(stablehlo::DotOp op, int64_t dim) {
  return dim == 0 ? std::nullopt : std::optional(rankOf(op.getResult()) - 1);
}

static std::optional<int64_t> resultDimension(Operation *op, int64_t dim) {
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp,
            stablehlo::DotOp>(
          [&](auto product) { return placeIn(product, dim); })
      .Default([](Operation *) { return std::nullopt; });
}

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
  std::optional<int64_t> axis =
      resultDimension(op, perAxis.getQuantizedDimension());
  if (!axis)
    return std::nullopt;
  ProductScales scales;
  scales.axis = *axis;
  for (double scale : perAxis.getScales())
    scales.factors.push_back(factor * scale);
  return scales;
}

} // namespace sinter
