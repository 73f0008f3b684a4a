//===- ConvolutionForm.h - a convolution in its simplest form -------------===//
//
// Any convolution that the blocked kernels can compute, brought to two spatial
// dimensions, input [N, C, H, W] and weights [K, C / groups, R, S]:
//
//   - dimension numbers become transposes, one spatial dimension becomes two;
//   - distances of bytes from a zero point become the bytes and that, where a
//     kernel takes them;
//   - lhs_dilation equal to the window makes a window of pixels out of each
//     pixel: a 1x1 convolution to all of the window's pixels at once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONFORM_H
#define SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONFORM_H

#include "graph/nn/TensorBuilder.h"
#include <array>

namespace sinter::cpu {

struct Target;

class ConvolutionForm {
public:
  /// Nothing if the blocked kernels cannot compute \p op (see the restrictions
  /// of assignLayouts).
  static std::optional<ConvolutionForm> of(stablehlo::ConvolutionOp op,
                                           const Target &target);

  std::array<int64_t, 4> weights; ///< Sizes K, C / groups, R, S.
  int64_t groups = 1;
  std::array<int64_t, 2> strides = {1, 1}, dilations = {1, 1};
  std::array<int64_t, 2> paddingLow = {0, 0}, paddingHigh = {0, 0};
  /// Each pixel becomes this many; then K is the product of upscale and the
  /// output channels, filled up to whole blocks.
  std::array<int64_t, 2> upscale = {1, 1};
  /// What bytes of the input count from.
  int64_t zeroPoint = 0;
  mlir::Type element; ///< Of the result.

  /// The input as [N, C, H, W] or [N, C, W].
  mlir::Value plainInput(nn::TensorBuilder &emit) const;
  /// The weights as [K, C / groups, R, S], windows that run backwards turned.
  mlir::Value plainWeights(nn::TensorBuilder &emit) const;
  /// What the kernel computes from an input of type \p input: [N, K, H', W'].
  mlir::RankedTensorType resultType(mlir::RankedTensorType input) const;
  /// The same with its pixels in their places: [N, channels, H'', W''].
  mlir::RankedTensorType finalType(mlir::RankedTensorType input) const;
  /// Puts the pixels of a blocked result of resultType in their places.
  mlir::Value spread(nn::TensorBuilder &emit, mlir::Value blocked,
                     int64_t lanes) const;
  /// Whether the operation's own result is [N, C, H, W] or [N, C, W].
  bool isPlainResult(stablehlo::ConvolutionOp op) const;
  /// The operation's result from one of finalType.
  mlir::Value plainResult(nn::TensorBuilder &emit, mlir::Value value,
                          stablehlo::ConvolutionOp op) const;

private:
  bool takeOperands(stablehlo::ConvolutionOp op, const Target &target);
  bool spreadWindow(const stablehlo::ConvolutionWindow &window, int64_t lanes);

  mlir::Value input, kernel;
  llvm::SmallVector<int64_t> inputOrder;  ///< Dimensions b, f, spatial...
  llvm::SmallVector<int64_t> kernelOrder; ///< Dimensions o, i, spatial...
  llvm::SmallVector<int64_t> turned;      ///< Those that run backwards.
  int64_t filled = 0;   ///< With upscale: channels, filled up to whole blocks.
  int64_t channels = 0; ///< Output channels of the operation.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONFORM_H
