//===- DequantizedWeight.h - integers that are dequantised, as a weight ---===//
//
// A weight stored as integers absorbs a factor a channel (ChannelFactors.h)
// into its scales, which are constants or part of a quantised type:
//
//   (convert(q) - z) * s      uniform_dequantize(q : !quant)
//
// A transpose or reversal may stand between it and the product. Where a
// per-tensor scale becomes per-channel, the first form turns into the second.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_DEQUANTIZEDWEIGHT_H
#define SINTER_PASSES_DEQUANTIZEDWEIGHT_H

#include "mlir/IR/Builders.h"
#include "passes/ChannelFactors.h"
#include "passes/FoldedNames.h"
#include <optional>

namespace sinter {

/// The value that \p weight is reshaped, transposed and reversed from.
mlir::Value beforeRearrangement(mlir::Value weight);

class DequantizedWeight {
public:
  /// Matches one of the two forms, the subtraction optional, where z and s are
  /// scalars or vectors along one dimension and all values have one use.
  /// Nothing for anything else.
  static std::optional<DequantizedWeight> find(mlir::Value weight);

  /// Whether \p factors, of the weight as the product's operand, can be
  /// absorbed: scales stay positive normal numbers, and integers of channels
  /// with a negative factor fit their type once they are mirrored about the
  /// zero point.
  bool takesUp(ChannelFactors factors) const;
  /// Absorbs them: creates new constants, with names from \p names, in place of
  /// the old ones. Returns the old constants' operations.
  llvm::SmallVector<mlir::Operation *> scale(ChannelFactors factors,
                                             FoldedNames &names) const;

private:
  struct Scaled {
    QuantizationParameters parameters;
    /// Set only where they change.
    std::optional<Tensor> integers;
    /// The new quantised type; null for the arithmetic form.
    mlir::quant::QuantizedType type;
  };

  static std::optional<DequantizedWeight> ofType(mlir::Value numbers);
  static std::optional<DequantizedWeight> ofArithmetic(mlir::Value numbers);
  std::optional<Scaled> scaled(ChannelFactors &factors) const;

  /// The dequantised value, and its dimension for each dimension of the
  /// product's operand.
  mlir::Value numbers;
  llvm::SmallVector<int64_t> dimensions;
  /// The uses of the constants; null integers where they cannot change.
  mlir::OpOperand *integers = nullptr, *scales = nullptr;
  QuantizationParameters parameters;
};

} // namespace sinter

#endif // SINTER_PASSES_DEQUANTIZEDWEIGHT_H
