// Where the channels of products are found in their weights.

#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::stablehlo {

SmallVector<ChannelFold> ConvolutionOp::getResultFolds(unsigned weightOperand) {
  if (weightOperand != 1)
    return {};
  auto numbers = getDimensionNumbers();
  return {{numbers.getOutputFeatureDimension(),
           numbers.getKernelOutputFeatureDimension()}};
}

SmallVector<ChannelFold>
ConvolutionOp::getOperandFolds(unsigned weightOperand) {
  if (weightOperand != 1)
    return {};
  auto numbers = getDimensionNumbers();
  ChannelFold fold{numbers.getInputFeatureDimension(),
                   numbers.getKernelInputFeatureDimension()};
  if (getFeatureGroupCount() > 1) {
    fold.groupDim = numbers.getKernelOutputFeatureDimension();
    fold.groups = getFeatureGroupCount();
  }
  fold.padded = llvm::any_of(getWindow(), [](const WindowDimension &each) {
    return each.paddingLow > 0 || each.paddingHigh > 0 || each.baseDilation > 1;
  });
  return {fold};
}

/// Of an operand of a product: the dimensions that are neither batching nor
/// contracting.
static SmallVector<int64_t> freeDimensions(RankedTensorType type,
                                           ArrayRef<int64_t> batching,
                                           ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> free;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
      free.push_back(i);
  return free;
}

SmallVector<ChannelFold> DotGeneralOp::getResultFolds(unsigned weightOperand) {
  auto numbers = getDotDimensionNumbers();
  SmallVector<int64_t> lhsFree =
      freeDimensions(tensorOf(getLhs()), numbers.getLhsBatchingDimensions(),
                     numbers.getLhsContractingDimensions());
  SmallVector<int64_t> rhsFree =
      freeDimensions(tensorOf(getRhs()), numbers.getRhsBatchingDimensions(),
                     numbers.getRhsContractingDimensions());
  bool isLhs = weightOperand == 0;
  // The result is [batching..., lhs free..., rhs free...].
  SmallVector<ChannelFold> folds;
  int64_t place = 0;
  for (int64_t dimension : isLhs ? numbers.getLhsBatchingDimensions()
                                 : numbers.getRhsBatchingDimensions())
    folds.push_back({place++, dimension});
  if (!isLhs)
    place += lhsFree.size();
  for (int64_t dimension : isLhs ? lhsFree : rhsFree)
    folds.push_back({place++, dimension});
  return folds;
}

SmallVector<ChannelFold> DotGeneralOp::getOperandFolds(unsigned weightOperand) {
  auto numbers = getDotDimensionNumbers();
  SmallVector<ChannelFold> folds;
  auto add = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    for (auto [left, right] : llvm::zip_equal(lhs, rhs))
      folds.push_back(weightOperand == 1 ? ChannelFold{left, right}
                                         : ChannelFold{right, left});
  };
  add(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions());
  add(numbers.getLhsContractingDimensions(),
      numbers.getRhsContractingDimensions());
  return folds;
}

} // namespace sinter::stablehlo
