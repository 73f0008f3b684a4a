//===- WeightChannels.h - which channels a weight is between --------------===//

#ifndef SINTER_QUANTIZE_WEIGHTCHANNELS_H
#define SINTER_QUANTIZE_WEIGHTCHANNELS_H

#include "quantize/Units.h"
#include "runtime/Tensor.h"

namespace sinter::quantize {

/// The channels of a product's input and output that each element of its
/// weights is between. Of a grouped convolution every group of outputs reads
/// inputs of its own.
class WeightChannels {
public:
  /// Nothing where channels are not one dimension each, or do not fit an input
  /// of \p inputs channels.
  static std::optional<WeightChannels>
  of(const Weights &where, const Tensor &weights, int64_t inputs);

  int64_t inputs() const { return inputCount; }
  int64_t outputs() const { return outputCount; }
  int64_t outputOf(int64_t element) const {
    return element / outputStride % outputCount;
  }
  int64_t inputOf(int64_t element) const {
    return outputOf(element) / outputsPerGroup * depth +
           element / depthStride % depth;
  }
  /// Whether each output reads one input.
  bool isDepthwise() const { return depth == 1 && inputCount != 1; }

private:
  int64_t inputCount = 1, outputCount = 1, depth = 1, outputsPerGroup = 1;
  int64_t outputStride = 1, depthStride = 1;
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_WEIGHTCHANNELS_H
