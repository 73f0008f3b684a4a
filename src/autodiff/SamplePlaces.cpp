//===- SamplePlaces.cpp - where the samples of a batch lie in tensors -----===//

#include "autodiff/SamplePlaces.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"

using namespace mlir;

namespace sinter::autodiff {

/// The axes of all dimensions of a tensor, the outermost first, and how large
/// each is.
static SmallVector<std::pair<unsigned, int64_t>>
flattened(const Axes &axes, const TensorAxes &tensor) {
  SmallVector<std::pair<unsigned, int64_t>> all;
  for (const AxisList &list : tensor)
    for (unsigned axis : list)
      all.push_back({axis, axes.axes[axis].size});
  return all;
}

/// Where samples that lie at \p place in an operand lie in a result, if one
/// axis holds them all and slices of the result follow from its slices.
static std::optional<SamplePlace>
placeInResult(const Axes &axes, unsigned operand, unsigned result,
              SamplePlace place, int64_t samples) {
  int64_t before = 1;
  for (auto [axis, size] : flattened(axes, axes.operands[operand])) {
    if (ShapedType::isDynamic(size) || size == 0)
      return std::nullopt;
    // What is around the samples within this axis.
    const bool isWithin = place.before % before == 0 &&
                          size % (place.before / before * samples) == 0;
    if (!isWithin) {
      before *= size;
      continue;
    }
    if (axes.axes[axis].kind != AxisKind::Kept)
      return std::nullopt;
    SamplePlace to{place.before / before, 1};
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

llvm::DenseMap<Value, SamplePlace>
samplePlaces(func::FuncOp function, int64_t samples,
             llvm::function_ref<bool(BlockArgument)> isInput) {
  llvm::DenseMap<Value, SamplePlace> places;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isInput(argument) || type.getRank() == 0 ||
        type.getDimSize(0) != samples || type.getNumElements() == 0)
      continue;
    places[argument] = {1, type.getNumElements() / samples};
  }
  for (Operation &op : function.front()) {
    const bool isReached = llvm::any_of(
        op.getOperands(), [&](Value each) { return places.contains(each); });
    std::optional<Axes> axes = isReached ? axesOf(&op) : std::nullopt;
    if (!axes)
      continue;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      for (unsigned j = 0; j < op.getNumOperands(); ++j) {
        auto from = places.find(op.getOperand(j));
        if (from == places.end())
          continue;
        if (auto place = placeInResult(*axes, j, i, from->second, samples)) {
          places[op.getResult(i)] = *place;
          break;
        }
      }
  }
  return places;
}

} // namespace sinter::autodiff
