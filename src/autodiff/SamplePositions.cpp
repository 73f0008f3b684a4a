//===- SamplePositions.cpp - positions of samples in tensors --------------===//

#include "autodiff/SamplePositions.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"

using namespace mlir;

namespace sinter::autodiff {

/// The axes of all dimensions of a tensor, the outermost first, with their
/// sizes.
static SmallVector<std::pair<unsigned, int64_t>>
flattened(const Axes &axes, const TensorAxes &tensor) {
  SmallVector<std::pair<unsigned, int64_t>> all;
  for (const AxisList &list : tensor)
    for (unsigned axis : list)
      all.push_back({axis, axes.axes[axis].size});
  return all;
}

/// The position in a result of the samples at \p place in an operand, if one
/// axis holds them all and slices of the result follow from its slices.
static std::optional<SamplePosition>
placeInResult(const Axes &axes, unsigned operand, unsigned result,
              SamplePosition place, int64_t samples) {
  int64_t before = 1;
  for (auto [axis, size] : flattened(axes, axes.operands[operand])) {
    if (ShapedType::isDynamic(size) || size == 0)
      return std::nullopt;
    // Whether the samples lie within this axis.
    const bool isWithin = place.before % before == 0 &&
                          size % (place.before / before * samples) == 0;
    if (!isWithin) {
      before *= size;
      continue;
    }
    if (axes.axes[axis].kind != AxisKind::Kept)
      return std::nullopt;
    SamplePosition to{place.before / before, 1};
    to.behind = size / (to.before * samples);
    bool isBehind = false;
    for (auto [other, itsSize] : flattened(axes, axes.results[result])) {
      if (other == axis)
        isBehind = true;
      else
        (isBehind ? to.behind : to.before) *= itsSize;
    }
    return isBehind ? std::optional(to) : std::nullopt;
  }
  return std::nullopt;
}

llvm::DenseMap<Value, SamplePosition>
samplePositions(func::FuncOp function, int64_t samples,
                llvm::function_ref<bool(BlockArgument)> isInput) {
  llvm::DenseMap<Value, SamplePosition> positions;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isInput(argument) || type.getRank() == 0 ||
        type.getDimSize(0) != samples || type.getNumElements() == 0)
      continue;
    positions[argument] = {1, type.getNumElements() / samples};
  }
  for (Operation &op : function.front()) {
    const bool isReached = llvm::any_of(
        op.getOperands(), [&](Value each) { return positions.contains(each); });
    std::optional<Axes> axes = isReached ? axesOf(&op) : std::nullopt;
    if (!axes)
      continue;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      for (unsigned j = 0; j < op.getNumOperands(); ++j) {
        auto from = positions.find(op.getOperand(j));
        if (from == positions.end())
          continue;
        if (auto place = placeInResult(*axes, j, i, from->second, samples)) {
          positions[op.getResult(i)] = *place;
          break;
        }
      }
  }
  return positions;
}

} // namespace sinter::autodiff
