//===- ChannelAffine.h - a scale and a shift for each channel -------------===//

#ifndef SINTER_PASSES_CHANNELAFFINE_H
#define SINTER_PASSES_CHANNELAFFINE_H

#include "mlir/IR/Operation.h"
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// y = scale[c] * x + shift[c] for an element of channel c.
struct ChannelAffine {
  std::vector<double> scale, shift;

  static ChannelAffine identity(int64_t channels) {
    return {std::vector<double>(channels, 1.0),
            std::vector<double>(channels, 0.0)};
  }
  bool shifts() const;
  bool isFinite() const;
};

/// outer(inner(x)).
ChannelAffine compose(const ChannelAffine &outer, const ChannelAffine &inner);

enum class StepKind { BatchNorm, Scale, Shift };

/// One operation that maps each channel by itself.
struct ChannelStep {
  mlir::Operation *op;
  mlir::Value from; ///< x
  StepKind kind;
  ChannelAffine affine;
  /// The name of the constant that shifts, or "".
  std::string shiftName;
};

/// \p op as a step from \p x, whose dimension \p dimension holds \p channels
/// channels: a batch_norm_inference of that dimension, a negation, or an
/// addition, subtraction, multiplication or division with constants that vary
/// along that dimension only. Its numbers are computed in double.
///
/// Nothing for anything else, and where a number is not finite, a divisor is
/// zero, variance + epsilon is not positive, the result's type is not x's, or x
/// is an operand twice.
std::optional<ChannelStep> channelStep(mlir::Operation *op, mlir::Value x,
                                       int64_t dimension, int64_t channels);

} // namespace sinter

#endif // SINTER_PASSES_CHANNELAFFINE_H
