//===- WeightGradient.h - gradients of a convolution's weights ------------===//
//
// For each input channel c, output channel k and tap of the window: the sum,
// over the output's pixels, of the input's channel c under the tap times the
// gradient of output channel k. On activations blocked by channel, [N, C/L, H,
// W, L]. Partial sums over subsets of the images are separate, [parts, K/L,
// C/L, R, S, L, L]: input channels before output channels.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_WEIGHTGRADIENT_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_WEIGHTGRADIENT_H

#include "backend/cpu/kernels/conv/Window.h"

namespace sinter::cpu {

/// The convolution's window, and what it makes of images.
struct WeightGradientShape : WindowShape {
  Dim batch = 1;
  int64_t inputs = 0, outputs = 0;

  /// Into how many parts the images are cut, so that there are tasks for
  /// threads whatever their number. All have as many, but for the last, which
  /// may have fewer; where their number is not known, the last ones may have
  /// none.
  int64_t parts(int64_t lanes) const;
};

/// A task is a block of input channels by one or two of output channels, for a
/// part of the images. Its sums stay in the first-level cache while it loops
/// over groups of rows; for each group, those of a row of taps and of some
/// input channels are in registers.
class WeightGradient {
public:
  WeightGradient(const WeightGradientShape &shape, const Target &target);

  int64_t tasks() const;
  /// Of an image, if their number is not known.
  double flops() const;

  /// Emits one task. \p input, \p gradient and \p sums are contiguous memrefs
  /// of f32, of any rank.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value gradient,
             mlir::Value sums) const;

private:
  WeightGradientShape shape;
  int64_t lanes, inputBlocks, outputBlocks;
  /// The blocks of output channels and the input channels of a tile.
  int64_t tileBlocks, tileInputs;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_WEIGHTGRADIENT_H
