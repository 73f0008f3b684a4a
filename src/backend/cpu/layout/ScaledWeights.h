//===- ScaledWeights.h - weights of few bits and a scale a channel --------===//
//
//   cpu.convolution(x, w : f32)  ->  cpu.convolution(x, n : i8) * s
//
// where w is s * n for each channel of the result. Weights of a model that was
// quantised are such products, also after a batch norm was folded into them.
// They take a quarter of the memory as integers, or an eighth where four bits
// hold them, and come from beyond the second-level cache in as small a part of
// the time; a vector of them is widened for all rows of a tile. Those that stay
// in that cache would be read as fast wide, and are floats of 16 bits, which
// cost fewer instructions: half of the memory. The scale is multiplied in
// registers, behind the sum.
//
// The scales are found again by the numbers, so that it does not matter who
// spelt them out, and in which way.
//
// Restrictions:
//   - Every weight is the product within what f32 rounds twice.
//   - Integers that 8 bits do not hold, of bytes far from their zero point, are
//     floats of 16 bits.
//   - Four bits want channels in eights, which lie in a word, and no matrix
//     units.
//   - Weights are constants of at least 64 KB; smaller ones stay in a cache.
//   - Direct convolutions that are not channel by channel, where
//     kernels/Estimates says that it takes no longer: as HalfWeights.h has it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_SCALEDWEIGHTS_H
#define SINTER_BACKEND_CPU_LAYOUT_SCALEDWEIGHTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Tensor.h"

namespace sinter::cpu {

struct PassSetting;

/// Integers of 16 bits, and a scale of f32 for each slice of them.
struct ScaledIntegers {
  Tensor integers, scales;
};

/// The numbers of \p weights, of f32, if those along each element of the first
/// dimension are integers from -255 to 255 times one scale, without a common
/// divisor.
std::optional<ScaledIntegers> asScaledIntegers(const Tensor &weights);

/// What takes the place of \p op's result, if its weights are such; \p op has
/// other weights then.
mlir::Value scaleBehindSums(ConvolutionOp op, const PassSetting &setting,
                            PatternRun &run);

llvm::ArrayRef<PatternInfo> scaledWeightsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_SCALEDWEIGHTS_H
