//===- QuantizedProduct.h - products with quantised weights ---------------===//
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
// A factor a channel of the dequantised result goes into scales. Integers
// change only in channels with negative factors (ChannelFactors.h). The same
// holds for a product of floats and a quantised weight, whose result is floats.
//
// Restrictions:
//   - Every value on the way has one use.
//   - StableHLO allows per-channel scales of a product's right operand only,
//     for channels that the result has, too.
//   - Accumulators take any factors and may have constants added. Other results
//     are rounded to their scales, so that they may differ by one step where a
//     quotient is close to a tie: these need `requantize`, and are mirrored
//     within their bounds.
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
  /// \p op, whose operand \p weight is a quantised constant, and the operations
  /// behind it up to the dequantisation. Nothing where there is none.
  static std::optional<QuantizedProduct> find(mlir::Operation *op,
                                              unsigned weight);

  /// The dequantised result.
  mlir::Value floats() const { return end; }
  /// The operations from the product up to there, in order.
  llvm::ArrayRef<mlir::Operation *> followers() const { return path; }
  /// Whether the product is rounded to a scale other than its accumulators'.
  bool isRounded() const;
  /// The dequantised weight, and its float type.
  Tensor weightNumbers() const;
  ElementType numbersType() const;

  /// Whether \p factors, of the weight, can be absorbed; dimension
  /// \p resultDimension of the result is that of the factors.
  bool takesUp(const ChannelFactors &factors, int64_t resultDimension) const;
  /// Absorbs them. Returns the old constants' operations.
  llvm::SmallVector<mlir::Operation *> scale(const ChannelFactors &factors,
                                             int64_t resultDimension,
                                             FoldedNames &names) const;

private:
  struct Scaled {
    mlir::quant::QuantizedType weight, result;
    std::optional<Tensor> elements;
    /// The elements and types of added constants, in order.
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
  /// Operands of additions that are constants, or broadcasts of one.
  llvm::SmallVector<mlir::OpOperand *> addends;
  llvm::SmallVector<mlir::Operation *> path;
  mlir::Value end;
};

} // namespace sinter

#endif // SINTER_PASSES_QUANTIZEDPRODUCT_H
