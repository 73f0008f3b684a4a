//===- WeightCodes.h - weights as integers --------------------------------===//

#ifndef SINTER_QUANTIZE_WEIGHTCODES_H
#define SINTER_QUANTIZE_WEIGHTCODES_H

#include "quantize/Options.h"
#include "runtime/Tensor.h"

#include <optional>
#include <vector>

namespace sinter::quantize {

/// A weight as symmetric integers, and their scales: one, or one for each index
/// of dimension `axis`.
struct WeightCode {
  Tensor elements;
  std::vector<double> scales;
  std::optional<int64_t> axis;

  /// The dequantised value of element \p index.
  double number(int64_t index) const;
};

/// The integers of \p weights, floats, with a scale for each slice along
/// \p axis, or one for all. Every scale is at least that of \p leastScales, if
/// there are any. Nothing if a weight is not finite.
std::optional<WeightCode>
encodeWeights(const Tensor &weights, std::optional<int64_t> axis,
              const QuantizeOptions &options,
              const std::vector<double> &leastScales = {});

/// The integers of \p weights in their shape, with a scale for each block of
/// options.block elements along \p axis, in the shape of the weights except for
/// that dimension. Nothing if a weight is not finite, or blocks do not divide
/// the dimension.
struct BlockCode {
  Tensor elements, scales;
};
std::optional<BlockCode> encodeBlocks(const Tensor &weights, int64_t axis,
                                      const QuantizeOptions &options);

/// The elements of \p bias divided by \p scales, as i32.
Tensor encodeBias(const Tensor &bias, const std::vector<double> &scales);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_WEIGHTCODES_H
