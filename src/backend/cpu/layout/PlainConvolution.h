//===- PlainConvolution.h - a convolution in one order of dimensions ------===//
//
//   input [N, C, spatial...] * kernel [K, C / groups, window...]
//     -> [N, K, spatial...]
//
// where windows run forwards and groups are groups of features. What the
// rewrites of convolutions work on: any stablehlo.convolution becomes one by
// transposes, a reversal of the kernel and, for batch groups, by making them
// groups of features.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_PLAINCONVOLUTION_H
#define SINTER_BACKEND_CPU_LAYOUT_PLAINCONVOLUTION_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::cpu {

struct PlainConvolution {
  mlir::Value input, kernel;
  stablehlo::ConvolutionWindow window; ///< One a spatial dimension.
  int64_t groups = 1;

  /// Emits what brings the operands of \p op into order.
  static PlainConvolution of(nn::TensorBuilder &emit,
                             stablehlo::ConvolutionOp op);

  int64_t spatialRank() const { return static_cast<int64_t>(window.size()); }
  /// Whether all sizes are known.
  bool isStatic() const {
    return tensorOf(input).hasStaticShape() &&
           tensorOf(kernel).hasStaticShape();
  }
  nn::Size batch() const { return nn::Size::of(input, 0); }
  int64_t outputs() const { return tensorOf(kernel).getDimSize(0); }
  /// Input channels of one group.
  nn::Size groupInputs() const {
    return groups == 1 ? nn::Size::of(input, 1) : nn::Size::of(kernel, 1);
  }
  int64_t groupOutputs() const { return outputs() / groups; }
  /// Several groups, of one channel each.
  bool isDepthwise() const {
    return groups > 1 && groupInputs() == nn::Size(1) && groupOutputs() == 1;
  }
  /// Along spatial dimension \p dimension; ShapedType::kDynamic where it is not
  /// known.
  int64_t inputSize(int64_t dimension) const {
    return tensorOf(input).getDimSize(dimension + 2);
  }
  int64_t outputSize(int64_t dimension) const;
  /// [N, K, spatial...]
  llvm::SmallVector<int64_t> resultShape() const;
  /// [N, groups, C / groups, spatial...] of the input.
  nn::Sizes splitInput(nn::TensorBuilder &emit) const;

  /// As a stablehlo.convolution, as precise and exact as \p like.
  mlir::Value emitOperation(nn::TensorBuilder &emit,
                            stablehlo::ConvolutionOp like) const;
};

/// Sets padding before and after a dimension of \p size elements so that the
/// window, which is not base-dilated, first stands at element \p start and has
/// \p count places.
void placeWindow(stablehlo::WindowDimension &window, int64_t size,
                 int64_t start, int64_t count);

/// The result of \p op from one in the order of PlainConvolution.
mlir::Value toResultOrder(nn::TensorBuilder &emit, mlir::Value value,
                          stablehlo::ConvolutionOp op);

/// transpose, but for permutations that change nothing.
mlir::Value permute(nn::TensorBuilder &emit, mlir::Value value,
                    llvm::ArrayRef<int64_t> permutation);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_PLAINCONVOLUTION_H
