//===- WeightedProduct.cpp - finds products by constants ------------------===//

#include "passes/WeightedProduct.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/ScaledNumbers.h"
#include "passes/WidenedWeights.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// The dimension of \p broadcast's operand that is dimension \p dimension of
/// its result; nothing where it is broadcast along it.
static std::optional<int64_t> operandDimension(const Broadcast &broadcast,
                                               int64_t dimension) {
  auto found = llvm::find(broadcast.dimensions, dimension);
  if (found == broadcast.dimensions.end())
    return std::nullopt;
  const int64_t operandDim = found - broadcast.dimensions.begin();
  const bool isSame = tensorOf(broadcast.operand).getDimSize(operandDim) ==
                      broadcast.type().getDimSize(dimension);
  return isSame ? std::optional(operandDim) : std::nullopt;
}

SmallVector<ChannelFold>
WeightedProduct::placed(ArrayRef<ChannelFold> folds) const {
  if (!repeated)
    return SmallVector<ChannelFold>(folds);
  SmallVector<ChannelFold> own;
  for (ChannelFold fold : folds)
    if (std::optional<int64_t> operandDim =
            operandDimension(*repeated, fold.weightDim)) {
      fold.weightDim = *operandDim;
      own.push_back(fold);
    }
  return own;
}

bool WeightedProduct::takesUp(const ChannelFold &fold,
                              ArrayRef<double> scale) const {
  if (!keepsIntegers() || isOne(scale))
    return true;
  auto factors = ChannelFactors::of(fold, weight.shape(), scale);
  if (!factors)
    return false;
  return quantized ? quantized->takesUp(*factors, fold.activationDim)
                   : dequantized && dequantized->takesUp(*factors);
}

SmallVector<Operation *>
WeightedProduct::scaleIntegers(const ChannelFold &fold, ArrayRef<double> scale,
                               FoldedNames &names) const {
  const ChannelFactors factors =
      *ChannelFactors::of(fold, weight.shape(), scale);
  return quantized ? quantized->scale(factors, fold.activationDim, names)
                   : dequantized->scale(factors, names);
}

/// Whether \p broadcast repeats a weight for batches only: along dimensions
/// that operand, weight and result share.
static bool isForBatches(ChannelwiseAffineOpInterface op, unsigned operand,
                         const Broadcast &broadcast) {
  auto isAmong = [](ArrayRef<ChannelFold> folds, int64_t dimension) {
    return llvm::any_of(folds, [&](const ChannelFold &fold) {
      return fold.weightDim == dimension && !fold.groupDim;
    });
  };
  const auto ofResult = resultFolds(op, operand),
             ofOperand = operandFolds(op, operand);
  for (int64_t i = 0; i < broadcast.type().getRank(); ++i)
    if (!operandDimension(broadcast, i) &&
        !(isAmong(ofResult, i) && isAmong(ofOperand, i)))
      return false;
  return true;
}

SmallVector<WeightedProduct, 2>
weightedProductsOf(Operation *op, const WholeNodes &whole, bool keepsNarrow) {
  SmallVector<WeightedProduct, 2> products;
  auto product = dyn_cast<ChannelwiseAffineOpInterface>(op);
  if (!product)
    return products;
  for (unsigned i = 0; i < 2; ++i) {
    if (op->getOperand(1 - i).getDefiningOp<ConstantOp>())
      continue;
    Value operand = op->getOperand(i);
    if (product.getInnerBias()) {
      if (std::optional<Weight> weight = Weight::find(operand);
          weight && product.mayBeWeight(i))
        products.push_back({op, i, std::move(*weight)});
      continue;
    }
    if (std::optional<QuantizedProduct> found = QuantizedProduct::find(op, i))
      products.push_back({op, i,
                          Weight::computed(operand, found->numbersType(),
                                           [product = *found] {
                                             return product.weightNumbers();
                                           }),
                          std::nullopt, false, std::nullopt, std::move(found)});
    if (!isFloatTensor(op->getResult(0)))
      continue;
    std::optional<Broadcast> repeated = Broadcast::of(operand);
    if (repeated && isForBatches(product, i, *repeated))
      if (auto weight = Weight::find(repeated->operand))
        products.push_back({op, i, std::move(*weight), std::move(repeated)});
    if (std::optional<Weight> weight = Weight::find(operand)) {
      products.push_back({op, i, std::move(*weight)});
      Operation *source = beforeRearrangement(operand).getDefiningOp();
      const bool staysNarrow =
          keepsNarrow && isa<DotGeneralOp>(op) && isWidenedWeight(operand);
      // FoldConstants does not fold these, either.
      const bool staysQuantized =
          isa_and_nonnull<UniformDequantizeOp>(source) &&
          (keepsNarrow || whole.areKept());
      if (source && (whole.lasts(source) || staysNarrow || staysQuantized)) {
        products.back().isDequantized = true;
        products.back().dequantized = DequantizedWeight::find(operand);
      }
    }
  }
  return products;
}

} // namespace sinter
