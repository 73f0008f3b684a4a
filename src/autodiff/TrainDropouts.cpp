//===- TrainDropouts.cpp - dropouts with random masks ---------------------===//

#include "autodiff/TrainDropouts.h"

#include "autodiff/SamplePositions.h"
#include "graph/Types.h"
#include "graph/nn/NnDropout.h"
#include "graph/nn/TensorBuilder.h"

#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace sinter::autodiff {

using nn::TensorBuilder;
using stablehlo::ComparisonDirection;

/// Whether \p value is the same in each run: it does not depend on an argument
/// or a region.
static bool isFixed(Value value) {
  SmallVector<Value> pending = {value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || op->getNumRegions() != 0)
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

SmallVector<Operation *> trainedDropouts(func::FuncOp function) {
  SmallVector<Operation *> all;
  function.walk([&](nn::DropoutOp op) {
    if (!op.getMask() || isFixed(op.getMask()))
      all.push_back(op);
  });
  return all;
}

namespace {

/// Builds the mask of one dropout.
class MaskBuilder {
public:
  MaskBuilder(OpBuilder &builder, nn::DropoutOp op, Value keys, size_t number)
      : op(op), emit(builder, op.getLoc()), keys(keys), number(number),
        word(IntegerType::get(op.getContext(), 32, IntegerType::Unsigned)) {}

  /// The mask for an operand whose samples are at \p place; nothing: it has no
  /// samples.
  Value mask(std::optional<SamplePosition> place) {
    const auto type = tensorOf(op.getOperand());
    const double ratio = op.getRatio().convertToDouble();
    const double threshold = std::ldexp(ratio, 32);
    if (ratio == 1 || type.getNumElements() == 0)
      return emit.splat(
          0, RankedTensorType::get(type.getShape(), emit.integerType(1)));
    if (!place) {
      keys = emit.slice(keys, 0, 0, 1);
      place = {1, type.getNumElements()};
    }
    const int64_t samples = tensorOf(keys).getDimSize(0);
    // Without a reshape where one dimension is that of the samples.
    SmallVector<int64_t> shape(type.getShape());
    int64_t before = 1, dimension = 0;
    while (dimension < type.getRank() && before < place->before)
      before *= shape[dimension++];
    if (before != place->before || dimension == type.getRank() ||
        shape[dimension] != samples) {
      shape = {place->before, samples, place->behind};
      dimension = 1;
    }
    Value kept =
        emit.compare(ComparisonDirection::GE, bits(shape, dimension),
                     emit.splat(std::min(std::round(threshold), 4294967295.0),
                                RankedTensorType::get(shape, word)));
    return emit.reshape(kept, type.getShape());
  }

private:
  Value shifted(Value x, double bits) {
    return emit.make<stablehlo::ShiftRightLogicalOp>(x,
                                                     emit.splatLike(bits, x));
  }
  Value either(Value a, Value b) { return emit.make<stablehlo::XorOp>(a, b); }
  Value mix(Value x) {
    x = emit.mul(either(x, shifted(x, 16)), double(0x7feb352d));
    x = emit.mul(either(x, shifted(x, 15)), double(0x846ca68b));
    return either(x, shifted(x, 16));
  }

  /// The random bits of a tensor of \p shape, whose dimension \p dimension is
  /// that of the samples.
  Value bits(ArrayRef<int64_t> shape, int64_t dimension) {
    Value low = emit.convert(keys, word);
    Value high = emit.convert(emit.make<stablehlo::ShiftRightLogicalOp>(
                                  keys, emit.splatLike(32, keys)),
                              word);
    Value a =
        mix(emit.add(low, double(static_cast<uint32_t>(number) * 0x9e3779b9U)));
    Value b = mix(either(high, a));
    SmallVector<int64_t> own, places;
    int64_t count = 1;
    for (auto [i, size] : llvm::enumerate(shape))
      if (static_cast<int64_t>(i) != dimension) {
        own.push_back(size);
        places.push_back(static_cast<int64_t>(i));
        count *= size;
      }
    Value place = emit.broadcast(
        emit.reshape(emit.iota({count}, 0, word), ArrayRef<int64_t>(own)),
        places, shape);
    Value first = either(place, emit.broadcast(a, {dimension}, shape));
    return mix(emit.add(mix(first), emit.broadcast(b, {dimension}, shape)));
  }

  nn::DropoutOp op;
  TensorBuilder emit;
  Value keys;
  size_t number;
  Type word;
};

} // namespace

void trainDropouts(func::FuncOp function, ArrayRef<Operation *> dropouts,
                   Value keys,
                   llvm::function_ref<bool(BlockArgument)> isInput) {
  const int64_t samples = tensorOf(keys).getDimSize(0);
  const llvm::DenseMap<Value, SamplePosition> positions =
      samplePositions(function, samples, isInput);
  for (auto [number, each] : llvm::enumerate(dropouts)) {
    auto op = cast<nn::DropoutOp>(each);
    const auto type = tensorOf(op.getOperand());
    std::optional<SamplePosition> place;
    if (auto found = positions.find(op.getOperand()); found != positions.end())
      place = found->second;
    else if (samples == 1 ||
             (type.getRank() > 0 && type.getDimSize(0) == samples))
      place = {1, type.getNumElements() / samples};
    OpBuilder builder(op);
    Value mask = MaskBuilder(builder, op, keys, number).mask(place);
    if (op.getMask())
      op.getMask().replaceUsesWithIf(mask, [&](OpOperand &use) {
        // The node's mask may have uses besides the result's.
        return use.getOwner()->getBlock() == op->getBlock() &&
               mask.getDefiningOp()->isBeforeInBlock(use.getOwner());
      });
    op.getMaskMutable().assign(mask);
  }
}

} // namespace sinter::autodiff
