#include "graph/interfaces/Interfaces.h"

#include "graph/interfaces/Axes.h"

#include "graph/interfaces/Interfaces.cpp.inc"

using namespace mlir;

namespace sinter {

/// The dimension of a tensor with the axes \p list.
static std::optional<int64_t> dimensionOf(ArrayRef<unsigned> list,
                                          const TensorAxes &tensor) {
  for (auto [i, each] : llvm::enumerate(tensor))
    if (ArrayRef<unsigned>(each) == list)
      return i;
  return std::nullopt;
}

SmallVector<ChannelFold> resultFolds(ChannelwiseAffineOpInterface op,
                                     unsigned weight) {
  std::optional<Axes> axes = axesOf(op);
  if (!axes || !op.mayBeWeight(weight) || op.getInnerBias())
    return {};
  SmallVector<ChannelFold> folds;
  for (auto [i, list] : llvm::enumerate(axes->results[0]))
    if (auto place = dimensionOf(list, axes->operands[weight]))
      folds.push_back({static_cast<int64_t>(i), *place});
  return folds;
}

SmallVector<ChannelFold> operandFolds(ChannelwiseAffineOpInterface op,
                                      unsigned weight) {
  std::optional<Axes> axes = axesOf(op);
  if (!axes || !op.mayBeWeight(weight))
    return {};
  SmallVector<ChannelFold> folds;
  const TensorAxes &dimensions = axes->operands[weight];
  for (auto [i, list] : llvm::enumerate(axes->operands[1 - weight])) {
    ChannelFold fold{static_cast<int64_t>(i), 0};
    fold.padded = op.readsPadding();
    if (auto place = dimensionOf(list, dimensions)) {
      fold.weightDim = *place;
      folds.push_back(fold);
      continue;
    }
    // The groups are the outer axis of another of the weight's dimensions.
    auto place = dimensionOf(ArrayRef(list).drop_front(), dimensions);
    const auto *group = llvm::find_if(dimensions, [&](const AxisList &each) {
      return each.front() == list.front();
    });
    if (!place || list.size() < 2 || group == dimensions.end())
      continue;
    fold.weightDim = *place;
    fold.groupDim = group - dimensions.begin();
    fold.groups = axes->axes[list.front()].size;
    folds.push_back(fold);
  }
  return folds;
}

} // namespace sinter
