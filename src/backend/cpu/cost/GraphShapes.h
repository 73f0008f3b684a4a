//===- GraphShapes.h - products of the graph as generators see them -------===//
//
// The shapes by which cost/Estimates tells times, of operations that are not
// yet brought into the form of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_GRAPHSHAPES_H
#define SINTER_BACKEND_CPU_COST_GRAPHSHAPES_H

#include "backend/cpu/kernels/attention/Attention.h"
#include "backend/cpu/kernels/conv/Convolution.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

/// As images of two dimensions: what further ones there are counts as height,
/// and so does the part of a window along them. Of a convolution whose input is
/// dilated, each result has only a part of the taps. Sizes that are not
/// known are typical ones: one image, and an area of WindowShape::nominal().
ConvolutionShape asImages(stablehlo::ConvolutionOp op);

/// Whether bringing the operands of \p op into blocks costs more than its
/// products do. Both take as many times longer as there are images, which do
/// not count; all else is known then.
bool hasFewProducts(stablehlo::ConvolutionOp op);

/// As many as decisions are made for where a size is not known.
inline constexpr int64_t unknownSizeEstimate = 1024;

/// Each matrix of the batch [m, k] by [k, n], and how many there are; of what
/// is not known, an estimate.
struct ProductSizes {
  int64_t batch, m, n, k;
  double flops() const {
    return 2.0 * double(batch) * double(m) * double(n) * double(k);
  }
};
ProductSizes sizesOf(stablehlo::DotGeneralOp op);

/// Operands as they lie behind the transposes in front of them: of the strides,
/// only whether the elements of a key are neighbours is told.
AttentionShape asHeads(nn::AttentionOp op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_GRAPHSHAPES_H
