//===- NormInBlocks.cpp - norms of images in blocks of channels -----------===//

#include "backend/cpu/layout/NormInBlocks.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

Value channelsOf(TensorBuilder &emit, Value blocked, int64_t channels) {
  ArrayRef<int64_t> shape = tensorOf(blocked).getShape();
  const int64_t padded = shape[1] * shape.back();
  Value flat = emit.reshape(blocked, {emit.sizes(blocked)[0], padded});
  return channels == padded ? flat : emit.slice(flat, 1, 0, channels);
}

/// The last dimension, of channels, as blocks of them: [..., CB, L].
static Value inBlocks(TensorBuilder &emit, Value x, int64_t blocks,
                      int64_t lanes) {
  nn::Sizes sizes = emit.sizes(x);
  x = emit.padEnd(x, sizes.size() - 1,
                  blocks * lanes - tensorOf(x).getShape().back());
  sizes.back() = blocks;
  sizes.push_back(lanes);
  return emit.reshape(x, sizes);
}

Value normInBlocks(TensorBuilder &emit, nn::GroupNormOp op, Value blocked) {
  const nn::Sizes all = emit.sizes(blocked);
  const nn::Size images = all[0];
  const int64_t channels = tensorOf(op.getResult()).getDimSize(1),
                groups = static_cast<int64_t>(op.getGroups()),
                blocks = all[1].known(), lanes = all[4].known();
  const nn::Sizes ofChannels = {images, blocks, lanes},
                  grouped = {images, groups, channels / groups};
  const nn::Size count =
      emit.product(emit.product(all[2], all[3]), channels / groups);
  // Of each channel that of its group, [N, CB, L].
  auto meanOf = [&](Value x) {
    Value sums = emit.sum(x, {2, 3});
    if (groups != channels) {
      sums = emit.reshape(channelsOf(emit, sums, channels), grouped);
      sums = emit.broadcast(emit.sum(sums, {2}), {0, 1}, grouped);
      sums =
          inBlocks(emit, emit.reshape(sums, {images, channels}), blocks, lanes);
    }
    return emit.div(sums, count);
  };
  auto repeated = [&](Value number) {
    return emit.broadcast(number, {0, 1, 4}, all);
  };
  // Taken twice, so that each user takes it where it reads x.
  Value mean = meanOf(blocked);
  auto centred = [&] { return emit.sub(blocked, repeated(mean)); };
  Value distance = centred(), variance = meanOf(emit.mul(distance, distance));
  Value inverse = emit.make<stablehlo::RsqrtOp>(
      emit.add(variance, op.getEpsilon().convertToDouble()));
  Value scale = inBlocks(emit, op.getScale(), blocks, lanes),
        bias = inBlocks(emit, op.getBias(), blocks, lanes);
  Value factor = emit.mul(inverse, emit.broadcast(scale, {1, 2}, ofChannels));
  return emit.add(emit.mul(centred(), repeated(factor)),
                  emit.broadcast(bias, {1, 4}, all));
}

} // namespace sinter::cpu
