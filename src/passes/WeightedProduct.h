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

/// A product and its constant operand, the weight, which can take up a scale
/// for each channel.
struct WeightedProduct {
  mlir::Operation *op;
  unsigned weightOperand;
  Weight weight;
  /// What repeats the weight for each batch.
  std::optional<Broadcast> repeated = std::nullopt;
  /// Whether the weight is dequantised in a node that stays, or stays narrow:
  /// then its scales take them up instead, if that is of the form for it.
  bool isDequantized = false;
  std::optional<DequantizedWeight> dequantized = std::nullopt;
  /// Where the weight is a quantised constant.
  std::optional<QuantizedProduct> quantized = std::nullopt;

  /// What the product is as floats.
  mlir::Value result() const {
    return quantized ? quantized->floats() : op->getResult(0);
  }
  /// Whether the weight stays integers.
  bool keepsIntegers() const { return isDequantized || quantized; }

  /// The folds whose channels are dimensions of the weight itself.
  llvm::SmallVector<ChannelFold>
  placed(llvm::ArrayRef<ChannelFold> folds) const;
  /// Whether the weight (or its scales) can take up \p scale along \p fold.
  bool takesUp(const ChannelFold &fold, llvm::ArrayRef<double> scale) const;
  /// The scales of a weight that stays integers take it up. Returns the
  /// operations that were read.
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

/// The products that \p op may be taken for: one for each constant operand, and
/// before it one for the constant that it repeats. Where \p keepsNarrow, a
/// weight of a dot_general stays in as few bits as it has.
llvm::SmallVector<WeightedProduct, 2>
weightedProductsOf(mlir::Operation *op, const WholeNodes &whole,
                   bool keepsNarrow);

} // namespace sinter

#endif // SINTER_PASSES_WEIGHTEDPRODUCT_H
