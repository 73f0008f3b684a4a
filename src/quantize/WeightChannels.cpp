//===- WeightChannels.cpp - input and output channels of weights ----------===//

#include "quantize/WeightChannels.h"

namespace sinter::quantize {

std::optional<WeightChannels> WeightChannels::of(const Weights &where,
                                                 const Tensor &weights,
                                                 int64_t inputs) {
  if (!where.channelAxis || !where.depthAxis || weights.size() == 0)
    return std::nullopt;
  WeightChannels channels;
  channels.inputCount = inputs;
  channels.hasGroupsInDepth = where.depthGroups != 1;
  channels.outputCount = weights.dim(*where.channelAxis) * where.depthGroups;
  channels.depth = weights.dim(*where.depthAxis) / where.depthGroups;
  if (channels.depth == 0 || inputs % channels.depth != 0)
    return std::nullopt;
  const int64_t groups = inputs / channels.depth;
  if (groups == 0 || channels.outputCount % groups != 0 ||
      (channels.hasGroupsInDepth && groups != where.depthGroups))
    return std::nullopt;
  channels.outputsPerGroup = channels.outputCount / groups;
  const auto strideOf = [&](int64_t axis) {
    int64_t stride = 1;
    for (int64_t i = axis + 1; i < weights.rank(); ++i)
      stride *= weights.dim(i);
    return stride;
  };
  channels.outputStride = strideOf(*where.channelAxis);
  channels.depthStride = strideOf(*where.depthAxis);
  return channels;
}

} // namespace sinter::quantize
