//===- Options.h - how a model is quantised -------------------------------===//
//
// Plain data, so that the command can fill it in without the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_OPTIONS_H
#define SINTER_QUANTIZE_OPTIONS_H

#include "runtime/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::quantize {

/// How a range of real numbers becomes a scale and a zero point.
enum class Scheme {
  /// The range, with zero in it, takes all storage elements.
  Asymmetric,
  /// The zero point is 0, in the middle of signed storage.
  Symmetric,
  /// As Symmetric where numbers of both signs occur; where none is negative,
  /// unsigned storage with the zero point 0.
  SymmetricU8,
  /// Symmetric, with a scale that is a power of two.
  PowerOfTwo
};

/// What part of the numbers that were seen a range covers.
enum class RangeMethod {
  /// That of the others which has the least error, as far as the calibration
  /// data tell of other samples.
  Best,
  Max,
  /// All but the outermost numbers.
  Percentile,
  /// The least divergence of the distributions (Kullback-Leibler).
  Entropy,
  /// The least mean of squared errors.
  SquaredError,
  /// More than what was seen, since the next samples may lie farther out;
  /// `Best`
  /// chooses it.
  Wider
};

struct QuantizeOptions {
  Scheme scheme = Scheme::Asymmetric;
  /// UI8, I8 or I16.
  ElementType activations = ElementType::UI8;
  /// I8 or I4.
  ElementType weights = ElementType::I8;
  /// A scale for each output channel of a weight; else one for all of it.
  bool perChannel = true;
  /// A scale for this many elements along the products' depth; 0: no blocks.
  int64_t block = 0;
  /// Only weights become integers: activations stay float, and nothing is
  /// calibrated.
  bool weightsOnly = false;
  RangeMethod range = RangeMethod::Best;
  /// Of RangeMethod::Percentile: what part of the numbers is covered.
  double percentile = 99.99;
  /// Whether layer norms read and give integers, too: what they read is a sum
  /// of many layers that a byte is little for, and takes no longer as floats.
  bool norms = false;
  /// Patterns of layers that stay float, and, if there are any, of those that
  /// alone do not: names of nodes or operations, `*` for any text.
  std::vector<std::string> keepFloat, only;
  /// Factors per channel move from activations into weights (Equalize.h):
  /// those of what products give, and of what norms give.
  bool equalize = true, smooth = true;
  /// Biases take up the mean error of quantised weights.
  bool correctBias = true;
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_OPTIONS_H
