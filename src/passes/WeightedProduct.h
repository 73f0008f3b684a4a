//===- WeightedProduct.h - finds products by constants --------------------===//

#ifndef SINTER_PASSES_WEIGHTEDPRODUCT_H
#define SINTER_PASSES_WEIGHTEDPRODUCT_H

#include "graph/Broadcast.h"
#include "graph/interfaces/Interfaces.h"
#include "passes/DequantizedWeight.h"
#include "passes/Groups.h"
#include "passes/QuantizedProduct.h"
#include "passes/Weight.h"

namespace sinter {

/// A product and its constant operand, the weight, which can absorb a scale for
/// each channel.
struct WeightedProduct {
  mlir::Operation *op;
  unsigned weightOperand;
  Weight weight;
  /// The broadcast of the weight to batches.
  std::optional<Broadcast> repeated = std::nullopt;
  /// Whether the weight is dequantised in a node that stays, or stays low-bit:
  /// then its scales absorb the factors instead, if it has the form for that.
  bool isDequantized = false;
  std::optional<DequantizedWeight> dequantized = std::nullopt;
  /// Set where the weight is a quantised constant.
  std::optional<QuantizedProduct> quantized = std::nullopt;

  /// The product's result in floats.
  mlir::Value result() const {
    return quantized ? quantized->floats() : op->getResult(0);
  }
  /// Whether the weight stays integers.
  bool keepsIntegers() const { return isDequantized || quantized; }

  /// Where the product is computed inside of the operation, its bias
  /// (ChannelwiseAffineOpInterface::getInnerBias).
  std::optional<mlir::MutableOperandRange> innerBias() const {
    return mlir::cast<ChannelwiseAffineOpInterface>(op).getInnerBias();
  }

  /// The folds whose channels are dimensions of the weight itself.
  llvm::SmallVector<ChannelFold>
  placed(llvm::ArrayRef<ChannelFold> folds) const;
  /// Whether the weight (or its scales) can absorb \p scale along \p fold.
  bool takesUp(const ChannelFold &fold, llvm::ArrayRef<double> scale) const;
  /// The scales of a weight that stays integers absorb it. Returns the old
  /// constants' operations.
  llvm::SmallVector<mlir::Operation *>
  scaleIntegers(const ChannelFold &fold, llvm::ArrayRef<double> scale,
                FoldedNames &names) const;
  llvm::SmallVector<ChannelFold> resultFolds() const {
    return placed(sinter::resultFolds(
        mlir::cast<ChannelwiseAffineOpInterface>(op), weightOperand));
  }
  llvm::SmallVector<ChannelFold> operandFolds() const {
    return placed(sinter::operandFolds(
        mlir::cast<ChannelwiseAffineOpInterface>(op), weightOperand));
  }
};

/// The ways to see \p op as a weighted product: one for each constant operand,
/// and before it one for the constant that it broadcasts. Where \p keepsNarrow,
/// a weight of a dot_general stays low-bit.
llvm::SmallVector<WeightedProduct, 2>
weightedProductsOf(mlir::Operation *op, const WholeNodes &whole,
                   bool keepsNarrow);

} // namespace sinter

#endif // SINTER_PASSES_WEIGHTEDPRODUCT_H
