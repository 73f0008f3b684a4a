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

enum class AffineStepKind { BatchNorm, Scale, Shift, Rearrange, Convert };

/// One operation that maps each channel by itself.
struct ChannelStep {
  mlir::Operation *op;
  mlir::Value from; ///< x
  AffineStepKind kind;
  /// The identity of a step that rearranges or converts.
  ChannelAffine affine;
  /// The name of the constant that shifts, or "".
  std::string shiftName;
  /// The result's dimension that holds the channels.
  int64_t dimension = 0;
  /// Whether the result has zeros that are not elements of x.
  bool addsZeros = false;

  /// Whether only the indices or the type of elements change.
  bool isPassage() const {
    return kind == AffineStepKind::Rearrange || kind == AffineStepKind::Convert;
  }
};

/// \p op as a step from \p x, whose dimension \p dimension holds \p channels
/// channels: a batch_norm_inference of that dimension, a negation, or an
/// addition, subtraction, multiplication or division with constants that vary
/// along that dimension only. Its coefficients are computed in double.
///
/// Nothing for anything else, and where a coefficient is not finite, a divisor
/// is zero, variance + epsilon is not positive, the result's type is not x's,
/// or x is an operand twice.
std::optional<ChannelStep> channelStep(mlir::Operation *op, mlir::Value x,
                                       int64_t dimension, int64_t channels);

/// The only dimension of a value of rank \p rank along which the constant
/// \p value varies that is broadcast to it; -1 where it does not vary at all.
/// Nothing where it is not constant, or varies along several.
std::optional<int64_t> channelDimensionOf(mlir::Value value, int64_t rank);

/// The elements of \p value, one for each of \p channels along \p dimension, if
/// it is a constant that varies along no other dimension.
std::optional<std::vector<double>> channelNumbers(mlir::Value value,
                                                  int64_t rank,
                                                  int64_t dimension,
                                                  int64_t channels);

/// \p op, whose only operand is \p x, as a step that keeps every channel
/// together: a conversion between floats, or an operation that moves elements,
/// adds only zeros, and does not mix the channels in dimension \p dimension of
/// x (a transpose, reshape, slice, gather, zero padding, ...). Nothing for
/// anything else.
std::optional<ChannelStep> passage(mlir::Operation *op, mlir::Value x,
                                   int64_t dimension, int64_t channels);
/// The same where the channels are in dimension \p dimension of the result.
std::optional<ChannelStep> passageTo(mlir::Operation *op, int64_t dimension,
                                     int64_t channels);

/// The dimension of x that holds the channels.
int64_t dimensionBefore(const ChannelStep &step);

} // namespace sinter

#endif // SINTER_PASSES_CHANNELAFFINE_H
