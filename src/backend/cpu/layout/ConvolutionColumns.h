//===- ConvolutionColumns.h - convolutions of few outputs -----------------===//
//
// A block of channels is computed as a whole, however few outputs there are. So
// each column of the window becomes an output of its own, and what belongs to a
// pixel is added up afterwards:
//
//     x -- convolution, 3 outputs, window 9 x 9 --> y
//   becomes
//     x -- convolution, 27 outputs, window 9 x 1 --> z [N, 3, 9, H, W + 8]
//       -- sum of 9 slices along W, one of each column --> y
//
// Restrictions:
//   - f32, one group, no dilated input, stride 1 along the width;
//   - at most half as many blocks of products are left, of 32 products or more
//     for each element of z.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONCOLUMNS_H
#define SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONCOLUMNS_H

#include "backend/cpu/layout/PlainConvolution.h"

namespace sinter::cpu {

/// Whether \p op, which the blocked kernels compute as it stands, takes less
/// with columns as outputs. Blocks have \p lanes channels.
bool hasColumnsForOutputs(stablehlo::ConvolutionOp op, int64_t lanes);

/// The result of \p plain, which is \p op, so computed.
mlir::Value computeByColumns(nn::TensorBuilder &emit,
                             const PlainConvolution &plain,
                             stablehlo::ConvolutionOp op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONCOLUMNS_H
