//===- WeightGradientForm.h - gradients of convolutions' weights ----------===//
//
// The gradient of a convolution's weights is itself a convolution, whose images
// are channels and whose channels are images; of a depthwise one in as many
// groups of images as there are channels:
//
//     convolution [f, b, 0, 1]x[i, o, 0, 1] : 16xCx8x8, 16xKx8x8 -> KxCx3x3
//     convolution [f, b, 0, 1]x[i, o, 0, 1] {batch_group_count = C}
//         : 16xCx8x8, 16xCx8x8 -> Cx1x3x3
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_WEIGHTGRADIENTFORM_H
#define SINTER_BACKEND_CPU_LAYOUT_WEIGHTGRADIENTFORM_H

#include "graph/nn/TensorBuilder.h"
#include <array>

namespace sinter::cpu {

struct WeightGradientForm {
  /// Nothing if \p op is none, or none that the kernels compute: of f32, with
  /// two spatial dimensions, of known sizes, and no constant operand; of
  /// windows of at most 11 by 11 taps and, unless it is depthwise, of fewer
  /// than there are pixels; in no groups but those of a depthwise convolution.
  static std::optional<WeightGradientForm> of(stablehlo::ConvolutionOp op);

  /// [N, C, H, W], seen through the transposes that made the operands.
  mlir::Value input, gradient;
  bool isDepthwise = false;
  std::array<int64_t, 2> taps;
  /// Of the convolution whose weights these are gradients of.
  std::array<int64_t, 2> strides, dilations, paddingLow;

  /// The result of \p op from [K, C / groups, R, S].
  mlir::Value result(nn::TensorBuilder &emit, mlir::Value sums,
                     stablehlo::ConvolutionOp op) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_WEIGHTGRADIENTFORM_H
