//===- ChannelFactors.h - quantised elements times factors ----------------===//
//
// One factor a channel times integers q that represent scale * (q - zero
// point):
//
//   (q - z) * s  times f       ->   (q - z) * (s * f)            where f > 0
//   (q - z) * s  times -f      ->   ((2 z - q) - z) * (s * f)
//   (q - z) * s  times 0       ->   (z - z) * s
//
// A per-tensor scale becomes per-channel where factors differ.
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

  /// \p scale, a factor for each channel of \p fold, as factors along one
  /// dimension of a weight of shape \p shape. Nothing where factors differ in
  /// two dimensions: in groups and within them.
  static std::optional<ChannelFactors> of(const ChannelFold &fold,
                                          llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<double> scale);

  /// Whether integers change, not scales alone.
  bool changesIntegers() const;
  /// The scales and zero points of elements with \p parameters times the
  /// factors, rounded to \p expressed. Nothing where these have scales along
  /// another dimension, or where a scale would not be a normal number.
  std::optional<QuantizationParameters>
  scaled(const QuantizationParameters &parameters,
         mlir::FloatType expressed) const;
  /// The new integers; those of channels with a negative factor are 2 z - q.
  /// Nothing where one is not within \p bounds.
  std::optional<Tensor> turned(const Tensor &integers,
                               const QuantizationParameters &parameters,
                               IntegerBounds bounds) const;
};

} // namespace sinter

#endif // SINTER_PASSES_CHANNELFACTORS_H
