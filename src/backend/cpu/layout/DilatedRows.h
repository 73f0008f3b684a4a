//===- DilatedRows.h - dilated convolutions as dense ones -----------------===//
//
// Where taps stand d pixels apart, pixels of every d-th row and column meet
// only each other: d * d images, which a window without dilation goes over, so
// that Winograd's method computes it. They stand one below the other in one
// image, each with a row of zeros below, so that weights are read once:
//
//     x [N, CB, H, W, L] -- convolution, 3x3, dilation d, padding d
//   becomes
//     x -> [N, CB, d * d * (q + 1), ceil(W / d), L], where q = ceil(H / d)
//       -- convolution, 3x3, padding 1 -- back to [N, KB, H, W, L]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_DILATEDROWS_H
#define SINTER_BACKEND_CPU_LAYOUT_DILATEDROWS_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::cpu {

class DilatedRows {
public:
  /// For images as \p blocked, [N, CB, H, W, L].
  DilatedRows(nn::TensorBuilder &emit, mlir::Value blocked, int64_t dilation);

  /// \p blocked with the pixels of each image below each other.
  mlir::Value apart(nn::TensorBuilder &emit, mlir::Value blocked) const;
  /// The pixels of \p blocked, the result of that, in their places.
  mlir::Value together(nn::TensorBuilder &emit, mlir::Value blocked) const;

private:
  /// The dimension of \p x filled up to \p size, or cut off there.
  static mlir::Value resized(nn::TensorBuilder &emit, mlir::Value x,
                             int64_t dimension, const nn::Size &size,
                             int64_t most);

  int64_t dilation;
  nn::Size images, height, width, rows, columns;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_DILATEDROWS_H
