//===- HalfWeights.h - fp16 and bf16 weights ------------------------------===//
//
//   cpu.convolution(x : f32, w : f32)  ->  cpu.convolution(x : f32, w : f16)
//
// Weights of a half-precision model are f16 or bf16 values, whatever they were
// converted to. Stored that way they take half of the memory, and load from
// beyond the second-level cache in half of the time. One vector conversion
// serves all rows of a register tile, which has no measurable cost.
//
// Restrictions:
//   - f16 or bf16 represents all of the weights exactly.
//   - It is not slower, by cost/Estimates. It is where a tile has few rows, for
//     lack of registers, and the weights take less than half of the
//     second-level cache: loads from a cache are faster than conversions.
//   - Direct convolutions that are not depthwise: Winograd's method multiplies
//     by transformed weights.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_HALFWEIGHTS_H
#define SINTER_BACKEND_CPU_WEIGHTS_HALFWEIGHTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Tensor.h"

namespace sinter::cpu {

struct PassSetting;

/// \p weights, of f32, in f16 or bf16, if one of them represents all elements.
std::optional<Tensor> inHalfPrecision(const Tensor &weights);

/// Converts the weights of \p op, an f32 constant, to 16 bits, where that is
/// faster.
void storeInHalfPrecision(ConvolutionOp op, const PassSetting &setting,
                          PatternRun &run);

llvm::ArrayRef<PatternInfo> halfWeightsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_HALFWEIGHTS_H
