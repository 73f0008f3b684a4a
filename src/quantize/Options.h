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
  /// As Symmetric where values of both signs occur; where none is negative,
  /// unsigned storage with the zero point 0.
  SymmetricU8,
  /// Symmetric, with a scale that is a power of two.
  PowerOfTwo
};

/// How a range is chosen from the values that were seen.
enum class RangeMethod {
  /// The one of the others with the least expected error on unseen samples.
  Best,
  Max,
  /// All but the outermost values.
  Percentile,
  /// The least divergence of the distributions (Kullback-Leibler).
  Entropy,
  /// The least mean of squared errors.
  SquaredError,
  /// Wider than the values that were seen, since the next samples may lie
  /// farther out; `Best` chooses it.
  Wider
};

struct QuantizeOptions {
  Scheme scheme = Scheme::Asymmetric;
  /// UI8, I8 or I16.
  ElementType activations = ElementType::UI8;
  /// I8 or I4.
  ElementType weights = ElementType::I8;
  /// A scale for each output channel of a weight; else per tensor.
  bool perChannel = true;
  /// A scale for this many elements along the contracting dimension; 0: no
  /// blocks.
  int64_t block = 0;
  /// Only weights are quantised: activations stay float, and nothing is
  /// calibrated.
  bool weightsOnly = false;
  RangeMethod range = RangeMethod::Best;
  /// For RangeMethod::Percentile: the percentage of values that is covered.
  double percentile = 99.99;
  /// Whether the operands and results of layer norms are quantised, too: their
  /// operand is a sum of many layers, for which 8 bits are coarse, and floats
  /// are as fast.
  bool norms = false;
  /// Patterns of layers that stay float and, if there are any, of the only ones
  /// that are quantised: names of nodes or operations, `*` for any text.
  std::vector<std::string> keepFloat, only;
  /// Factors per channel move from activations into weights (Equalize.h): from
  /// results of products, and from results of norms.
  bool equalize = true, smooth = true;
  /// Biases are corrected by the mean error of quantised weights.
  bool correctBias = true;
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_OPTIONS_H
