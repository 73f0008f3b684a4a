//===- ConvolutionPhases.h - transposed convolutions by ordinary ones -----===//
//
// Between the elements of a base-dilated input are zeros, so that each result
// meets only some taps of the window. Which, and where the elements are,
// repeats every lhs_dilation / gcd(lhs_dilation, stride) results: the phases.
//
//     x -- convolution, lhs_dilation 2, k4 --> y
//   becomes
//     x -- convolution, k2 = k[1], k[3] --> y[0::2]  \  interleaved
//       -- convolution, k2 = k[0], k[2] --> y[1::2]  /
//
// Phases with equally many taps are channels of one convolution where that
// computes little more than needed: their windows stand at different elements,
// so that each is a slice of its result.
//
// Restrictions:
//   - There are no more than 64 phases.
//   - The stride is 1 along dimensions whose size is not known.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONPHASES_H
#define SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONPHASES_H

#include "backend/cpu/layout/PlainConvolution.h"

namespace sinter::cpu {

/// Whether \p plain has dilated inputs, and few enough phases.
bool hasPhases(const PlainConvolution &plain);

/// The result of \p plain, which has phases, from those of ordinary
/// convolutions, which \p compute computes. Blocks of \p lanes channels are
/// what the kernels compute at a time.
mlir::Value computeByPhases(
    nn::TensorBuilder &emit, const PlainConvolution &plain, int64_t lanes,
    llvm::function_ref<mlir::Value(const PlainConvolution &)> compute);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONPHASES_H
