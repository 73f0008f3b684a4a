//===- ChannelAbsorption.h - what a product can absorb --------------------===//
//
// Whether a scale and a shift a channel can go into a product's weight and
// bias, and what these are then: see FoldBatchNorm.h for what it depends on.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_CHANNELABSORPTION_H
#define SINTER_PASSES_CHANNELABSORPTION_H

#include "passes/ChannelAffine.h"
#include "passes/WeightedProduct.h"

namespace sinter {

/// The bias of a product: an array whose dimension i is dimension `place[i]` of
/// the result.
struct Bias {
  std::vector<double> numbers;
  Shape shape;
  llvm::SmallVector<int64_t> place;
  std::string name;
};

/// A weight's array with the scales in it (without elements where all are 1),
/// and the bias to add to the product.
struct AbsorbedAffine {
  Tensor values;
  std::optional<Bias> bias;
};

/// The weight's array with the scales of \p affine in it, along channels of the
/// product's result; without elements where all are 1. \p chain are the
/// operations that compute \p affine of the result, as far as known. The result
/// is converted to \p converted behind them, if that is set. Nothing where
/// precision or range would be lost.
std::optional<Tensor> absorbedByResult(const WeightedProduct &product,
                                       const ChannelFold &fold,
                                       const ChannelAffine &affine,
                                       llvm::ArrayRef<ChannelStep> chain,
                                       mlir::Type converted = {});

/// The same of \p affine of the operand beside the weight, whose shift becomes
/// a bias, or the first half of one inside of the operation. Nothing, too,
/// where the operand may not be shifted.
std::optional<AbsorbedAffine> absorbedByOperand(const WeightedProduct &product,
                                                const ChannelFold &fold,
                                                const ChannelAffine &affine);

/// The narrower float type that the only user of \p value converts it to; null
/// otherwise.
mlir::Type typeOfSoleConversion(mlir::Value value);

} // namespace sinter

#endif // SINTER_PASSES_CHANNELABSORPTION_H
