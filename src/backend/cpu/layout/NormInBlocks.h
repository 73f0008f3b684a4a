//===- NormInBlocks.h - norms of images in blocks of channels -------------===//
//
// A norm of groups of channels without unpacking them: sums of each channel,
// [N, CB, L], are those of a group first.
//
//     mean = sum of groups(sum over H, W(x)) / count,  c = x - mean
//     c * (rsqrt(mean of c * c + epsilon) * scale) + bias
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_NORMINBLOCKS_H
#define SINTER_BACKEND_CPU_LAYOUT_NORMINBLOCKS_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::cpu {

/// What was computed of all pixels of each channel, [N, CB, L] or [N, CB, 1,
/// L], as [N, C]: small, and plain again.
mlir::Value channelsOf(nn::TensorBuilder &emit, mlir::Value blocked,
                       int64_t channels);

/// The result of \p op in blocks, whose operand is \p blocked in blocks,
/// [N, CB, H, W, L].
mlir::Value normInBlocks(nn::TensorBuilder &emit, nn::GroupNormOp op,
                         mlir::Value blocked);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_NORMINBLOCKS_H
