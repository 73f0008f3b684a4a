//===- DepthwiseGradient.h - gradients of depthwise weights ---------------===//
//
// The gradients by the weights of a depthwise convolution: for each tap the
// sum, over the output's pixels, of the input's pixel under the tap times the
// output's gradient. On activations blocked by channel, [N, C/L, H, W, L]; the
// sums of each image are [N, C/L, R, S, L].
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_DEPTHWISEGRADIENT_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_DEPTHWISEGRADIENT_H

#include "backend/cpu/kernels/conv/Channelwise.h"

namespace sinter::cpu {

/// A task is a block of channels of an image.
class DepthwiseGradient {
public:
  /// \p shape is that of the convolution; the number of images may be named.
  DepthwiseGradient(const ChannelwiseShape &shape, const Target &target);

  /// Of one image, if their number is not known.
  int64_t tasks() const;
  double flops() const;

  /// Emits one task. \p input, \p gradient and \p sums are contiguous memrefs
  /// of f32, of any rank.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value gradient,
             mlir::Value sums) const;

private:
  ChannelwiseShape shape;
  int64_t lanes, blocks;
  /// How many pixels are multiplied in parallel, with separate accumulators.
  int64_t pixels;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_DEPTHWISEGRADIENT_H
