//===- DequantizedWeight.h - integers that are dequantised, as a weight ---===//
//
// A weight that a file keeps in integers takes up a factor a channel
// (ChannelFactors.h) in its scales, where they stand as constants or in a
// quantised type:
//
//   (convert(q) - z) * s      uniform_dequantize(q : !quant)
//
// A transpose or reversal may stand between it and the product. Where one scale
// becomes one a channel, the first form turns into the second.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_DEQUANTIZEDWEIGHT_H
#define SINTER_PASSES_DEQUANTIZEDWEIGHT_H

#include "mlir/IR/Builders.h"
#include "passes/ChannelFactors.h"
#include "passes/FoldedNames.h"
#include <optional>

namespace sinter {

/// What \p weight is before it is reshaped, transposed and reversed.
mlir::Value beforeRearrangement(mlir::Value weight);

class DequantizedWeight {
public:
  /// Of one of the two forms, the subtraction if there is one, z and s numbers
  /// or vectors along one dimension, that nothing else reads. Nothing else.
  static std::optional<DequantizedWeight> find(mlir::Value weight);

  /// Whether \p factors, of the weight as the product sees it, can be taken up:
  /// scales stay positive normal numbers, and integers of channels with a
  /// negative factor fit their type the other way round.
  bool takesUp(ChannelFactors factors) const;
  /// Takes them up: new constants in place of those it reads, called by
  /// \p names. Returns the operations that were read.
  llvm::SmallVector<mlir::Operation *> scale(ChannelFactors factors,
                                             FoldedNames &names) const;

private:
  struct Scaled {
    QuantizationParameters parameters;
    /// Only where they change.
    std::optional<Tensor> integers;
    /// Of a quantised type; null where the arithmetic stays.
    mlir::quant::QuantizedType type;
  };

  static std::optional<DequantizedWeight> ofType(mlir::Value numbers);
  static std::optional<DequantizedWeight> ofArithmetic(mlir::Value numbers);
  std::optional<Scaled> scaled(ChannelFactors &factors) const;

  /// The dequantised numbers, and which of their dimensions each dimension is
  /// that the product sees.
  mlir::Value numbers;
  llvm::SmallVector<int64_t> dimensions;
  /// What reads the constants; null integers where they cannot change.
  mlir::OpOperand *integers = nullptr, *scales = nullptr;
  QuantizationParameters parameters;
};

} // namespace sinter

#endif // SINTER_PASSES_DEQUANTIZEDWEIGHT_H
