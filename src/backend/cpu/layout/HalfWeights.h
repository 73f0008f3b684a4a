//===- HalfWeights.h - weights of 16 bits ---------------------------------===//
//
//   cpu.convolution(x : f32, w : f32)  ->  cpu.convolution(x : f32, w : f16)
//
// Weights of a model in half precision are f16 or bf16 numbers, whatever they
// were converted to on the way. They take half of the memory if they lie there
// so, and come from beyond the second-level cache in half of the time; a
// conversion of one vector serves all rows of a tile, beside whose products it
// costs nothing that could be measured.
//
// Restrictions:
//   - f16 or bf16 holds all of the numbers exactly.
//   - kernels/Estimates says that it takes no longer. It does where a tile has
//     few rows, for want of registers, and the weights take less than half of
//     the second-level cache: what is read from a cache is read faster than it
//     is converted.
//   - Direct convolutions that are not channel by channel: Winograd's method
//     multiplies by sums of weights.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_HALFWEIGHTS_H
#define SINTER_BACKEND_CPU_LAYOUT_HALFWEIGHTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Tensor.h"

namespace sinter::cpu {

struct PassSetting;

/// The numbers of \p weights, of f32, in f16 or bf16, if one of them holds them
/// all.
std::optional<Tensor> inHalfPrecision(const Tensor &weights);

/// Makes the weights of \p op, a constant of f32, one of 16 bits, where that
/// is faster.
void storeInHalfPrecision(ConvolutionOp op, const PassSetting &setting,
                          PatternRun &run);

llvm::ArrayRef<PatternInfo> halfWeightsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_HALFWEIGHTS_H
