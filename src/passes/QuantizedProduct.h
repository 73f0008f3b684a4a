//===- QuantizedProduct.h - products whose weight is a quantised constant -===//
//
//   x : !quant<s_x>   K : !quant<s_k>           x    K : !quant<s_k * f>
//          |           |                        |    |
//          product : !quant<s_x * s_k>    ->    product : !quant<s_x * s_k * f>
//             |   b : the same                     |   b : the same
//             add                                  add
//              |                                    |
//        uniform_dequantize                   uniform_dequantize
//              |                                    |
//              y, and then y * f                    y
//
// A factor a channel of what is dequantised goes into scales, which no integer
// but those of channels with negative factors depends on (ChannelFactors.h). So
// it does of a product of floats and a quantised weight, which gives floats.
//
// Restrictions:
//   - Every value on the way has one reader.
//   - StableHLO has scales for each channel on the right of a product only, of
//     channels that the result has, too.
//   - Sums of products take any factors and may have constants added. Other
//     results are rounded to their scales, so that they may be another by one
//     step where a quotient lies next to the middle of two: those are allowed
//     as `requantize`, and turn round within their bounds.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_QUANTIZEDPRODUCT_H
#define SINTER_PASSES_QUANTIZEDPRODUCT_H

#include "mlir/IR/Operation.h"
#include "passes/ChannelFactors.h"
#include "passes/FoldedNames.h"
#include <optional>

namespace sinter {

class QuantizedProduct {
public:
  /// \p op, whose operand \p weight is a quantised constant, and what follows
  /// up to where floats are made of it. Nothing where they are not.
  static std::optional<QuantizedProduct> find(mlir::Operation *op,
                                              unsigned weight);

  /// The numbers, as floats.
  mlir::Value floats() const { return end; }
  /// What follows the product up to there, in order.
  llvm::ArrayRef<mlir::Operation *> followers() const { return path; }
  /// Whether the product is rounded to a scale that is not that of its sums.
  bool isRounded() const;
  /// The weight's numbers, as floats, and what floats those are.
  Tensor weightNumbers() const;
  ElementType numbersType() const;

  /// Whether \p factors, of the weight, can be taken up; dimension
  /// \p resultDimension of the result is that of the factors.
  bool takesUp(const ChannelFactors &factors, int64_t resultDimension) const;
  /// Takes them up. Returns the operations that were read.
  llvm::SmallVector<mlir::Operation *> scale(const ChannelFactors &factors,
                                             int64_t resultDimension,
                                             FoldedNames &names) const;

private:
  struct Scaled {
    mlir::quant::QuantizedType weight, result;
    std::optional<Tensor> elements;
    /// Of what is added, in order: the constants' elements and types.
    llvm::SmallVector<std::pair<Tensor, mlir::quant::QuantizedType>> added;
  };
  std::optional<Scaled> scaled(const ChannelFactors &factors,
                               int64_t resultDimension) const;
  bool setResult(Scaled &after, const ChannelFactors &factors,
                 int64_t resultDimension) const;
  bool addConstants(Scaled &after, const ChannelFactors &factors,
                    int64_t resultDimension) const;

  mlir::Operation *op = nullptr;
  unsigned weight = 0;
  /// The operands that are constants, or repeat one, of additions.
  llvm::SmallVector<mlir::OpOperand *> addends;
  llvm::SmallVector<mlir::Operation *> path;
  mlir::Value end;
};

} // namespace sinter

#endif // SINTER_PASSES_QUANTIZEDPRODUCT_H
