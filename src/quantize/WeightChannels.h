//===- WeightChannels.h - input and output channels of weights ------------===//

#ifndef SINTER_QUANTIZE_WEIGHTCHANNELS_H
#define SINTER_QUANTIZE_WEIGHTCHANNELS_H

#include "quantize/Units.h"
#include "runtime/Tensor.h"

namespace sinter::quantize {

/// The input and output channel of a product for each element of its weights.
/// In a grouped convolution every group of outputs has its own inputs.
class WeightChannels {
public:
  /// Nothing where channels are not one dimension each, or do not fit an input
  /// of \p inputs channels.
  static std::optional<WeightChannels>
  of(const Weights &where, const Tensor &weights, int64_t inputs);

  int64_t inputs() const { return inputCount; }
  int64_t outputs() const { return outputCount; }
  int64_t outputOf(int64_t element) const {
    return hasGroupsInDepth ? inputOf(element) / depth * outputsPerGroup +
                                  element / outputStride % outputsPerGroup
                            : element / outputStride % outputCount;
  }
  int64_t inputOf(int64_t element) const {
    return hasGroupsInDepth ? element / depthStride % inputCount
                            : outputOf(element) / outputsPerGroup * depth +
                                  element / depthStride % depth;
  }
  /// Whether each output depends on one input.
  bool isDepthwise() const { return depth == 1 && inputCount != 1; }

private:
  int64_t inputCount = 1, outputCount = 1, depth = 1, outputsPerGroup = 1;
  int64_t outputStride = 1, depthStride = 1;
  /// See Weights::depthGroups.
  bool hasGroupsInDepth = false;
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_WEIGHTCHANNELS_H
