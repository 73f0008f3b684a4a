//===- ScaledWeights.h - low-bit weights with per-channel scales ----------===//
//
//   cpu.convolution(x, w : f32)  ->  cpu.convolution(x, n : i8) * s
//
// where w is s * n for each channel of the result. Weights of a quantised model
// have this form, also after a batch norm was folded into them. As integers
// they take a quarter of the memory, or an eighth in four bits, and load from
// beyond the second-level cache in as small a fraction of the time; a vector of
// them is widened for all rows of a register tile. Weights that stay in that
// cache load as fast in f32; they become 16-bit floats, which cost fewer
// instructions and half of the memory. The scale is applied in registers, after
// the accumulation.
//
// The scales are recovered from the values, so that it does not matter how the
// file dequantises them.
//
// Restrictions:
//   - Every weight is the product within two f32 roundings.
//   - Integers that 8 bits do not hold, with a zero point far from 0, are
//     16-bit floats.
//   - Four bits require groups of eight channels, which fill a 32-bit word, and
//     no matrix units.
//   - Weights are constants of at least 64 KB; smaller ones stay in a cache.
//   - Direct convolutions that are not depthwise, where they are not slower by
//     cost/Estimates: as in HalfWeights.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_SCALEDWEIGHTS_H
#define SINTER_BACKEND_CPU_WEIGHTS_SCALEDWEIGHTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Tensor.h"

namespace sinter::cpu {

struct PassSetting;

/// 16-bit integers, and an f32 scale for each slice of them.
struct ScaledIntegers {
  Tensor integers, scales;
};

/// The scaled form of \p weights, of f32, if each slice of the first dimension
/// is one scale times integers from -255 to 255 without a common divisor.
std::optional<ScaledIntegers> asScaledIntegers(const Tensor &weights);

/// If the weights of \p op have that form, replaces them by the integers and
/// returns the scaled result.
mlir::Value scaleBehindSums(ConvolutionOp op, const PassSetting &setting,
                            PatternRun &run);

llvm::ArrayRef<PatternInfo> scaledWeightsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_SCALEDWEIGHTS_H
