//===- ChannelFactors.h - what factors make of quantised numbers ----------===//
//
// One factor a channel, of integers that stand for scale * (q - zero point):
//
//   (q - z) * s  times f       ->   (q - z) * (s * f)            where f > 0
//   (q - z) * s  times -f      ->   ((2 z - q) - z) * (s * f)
//   (q - z) * s  times 0       ->   (z - z) * s
//
// One scale for all becomes one a channel where factors differ.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_CHANNELFACTORS_H
#define SINTER_PASSES_CHANNELFACTORS_H

#include "graph/Quantization.h"
#include "graph/interfaces/Interfaces.h"
#include "runtime/Tensor.h"
#include <optional>
#include <vector>

namespace sinter {

struct ChannelFactors {
  /// One factor for each element of a dimension, or, if that is -1, for all.
  int64_t dimension = -1;
  std::vector<double> factors;

  /// What \p scale, a factor for each channel of \p fold, is along one
  /// dimension of a weight of shape \p shape. Nothing where factors differ in
  /// two dimensions: in groups and within them.
  static std::optional<ChannelFactors> of(const ChannelFold &fold,
                                          llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<double> scale);

  /// Whether integers change, not scales alone.
  bool changesIntegers() const;
  /// The scales and zero points of numbers with \p parameters times the
  /// factors, as \p expressed holds them. Nothing where these have scales along
  /// another dimension, or where a scale would be no normal number.
  std::optional<QuantizationParameters>
  scaled(const QuantizationParameters &parameters,
         mlir::FloatType expressed) const;
  /// The integers then; those of channels with a negative factor the other way
  /// round. Nothing where one is not within \p bounds.
  std::optional<Tensor> turned(const Tensor &integers,
                               const QuantizationParameters &parameters,
                               IntegerBounds bounds) const;
};

} // namespace sinter

#endif // SINTER_PASSES_CHANNELFACTORS_H
