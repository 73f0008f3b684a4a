//===- DynamicWindows.h - convolutions by kernels of unknown sizes --------===//
//
//   convolution(x, k : ?x?x?x?)
//     ->  dot_general(take(take(pad(x), places, taps), places, taps), k)
//
// What is under each tap at each place is taken by its number along each
// spatial dimension, and channels and taps are summed up by one product.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_DYNAMICWINDOWS_H
#define SINTER_BACKEND_CPU_LAYOUT_DYNAMICWINDOWS_H

#include "backend/cpu/layout/PlainConvolution.h"

namespace sinter::cpu {

/// Whether \p op has a window of unknown size or an unknown number of results
/// a place. (Any other kernel of a convolution has one for each tap.)
bool hasDynamicWindow(stablehlo::ConvolutionOp op);

/// Whether that can be computed by taps: nothing is put between elements of
/// which it is not known how many they are.
bool canBeByTaps(stablehlo::ConvolutionOp op);

/// The result of \p plain, [N, K, spatial...]. Each unknown size is computed of
/// those of the operands; a window that has no place makes it 0 only where it
/// lacks less than a stride. The product is as precise as \p like.
mlir::Value computeByTaps(nn::TensorBuilder &emit,
                          const PlainConvolution &plain,
                          stablehlo::ConvolutionOp like);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_DYNAMICWINDOWS_H
