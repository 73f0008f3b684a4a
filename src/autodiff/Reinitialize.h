//===- Reinitialize.h - initialises weights anew --------------------------===//
//
// The initial value of a weight follows from its uses:
//
//   a convolution, a product     uniform, up to 1 / sqrt(n), where each element
//                                of the result sums up n products
//   a norm, as scale, variance   1
//   a norm, as offset, mean      0
//   a multiplication             1, if it has one dimension of more than one
//   nn.prelu, as slope           0.25 (He et al. 2015)
//   anything else                0, if it has one dimension of more than one,
//                                else uniform, n being its last dimension
//
// (The first is PyTorch's default; LeCun et al. 1998, "Efficient BackProp".)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_REINITIALIZE_H
#define SINTER_AUTODIFF_REINITIALIZE_H

#include "autodiff/Weights.h"

namespace sinter::autodiff {

/// The initial value of \p weight, which is the argument \p value. It is a
/// function of \p seed, its name and its shape.
Tensor freshValue(const LiftedWeight &weight, mlir::Value value, uint64_t seed);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_REINITIALIZE_H
