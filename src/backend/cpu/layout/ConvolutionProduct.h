//===- ConvolutionProduct.h - convolutions as matrix products -------------===//
//
//   input [N, C, H, W]  -- slices -->  patches [C * taps, N * results]
//   kernel [K, C, R, S] . patches  -->  [K, N * results]
//
// for each group ("im2col"; Chellapilla et al., "High Performance Convolutional
// Neural Networks for Document Processing", 2006). For element types that only
// matrix products have a fast kernel for, and where nothing slides.
//
// Restrictions:
//   - The input is not base-dilated.
//   - Patches are made by one slice a tap or a result of each dimension,
//     whichever is fewer; no more than 64.
//   - Patches of more than 64 MiB are made and multiplied in pieces: about 32
//     where they would be more. Patches of sizes that are not known are made at
//     once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONPRODUCT_H
#define SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONPRODUCT_H

#include "backend/cpu/layout/PlainConvolution.h"

namespace sinter::cpu {

/// Whether patches of \p plain along all dimensions need few slices.
bool hasPatches(const PlainConvolution &plain);

/// The result of \p plain, which has patches.
mlir::Value computeAsProduct(nn::TensorBuilder &emit,
                             const PlainConvolution &plain);

/// The result of \p plain, which has no dilated input, from one sum of products
/// a place of the window: for few places of large windows.
mlir::Value computeByPlaces(nn::TensorBuilder &emit,
                            const PlainConvolution &plain);

/// Whether the window of \p dimension can be unfolded by few slices.
bool canUnfold(const PlainConvolution &plain, int64_t dimension);

/// Dimension \p from of \p x, along which \p window slides over \p count
/// places (ShapedType::kDynamic where that is not known), becomes a dimension
/// of the places; what is under the taps becomes a new dimension, put before
/// dimension \p to. Pads first.
mlir::Value unfold(nn::TensorBuilder &emit, mlir::Value x, int64_t from,
                   int64_t to, const stablehlo::WindowDimension &window,
                   int64_t count);

/// Calls \p compute for \p plain, or for halves of its images or results, and
/// halves of these, while \p bytes says that one needs more than 64 MiB and
/// more than a 32nd of all; joins the results. What is not static is one piece.
mlir::Value computeInPieces(
    nn::TensorBuilder &emit, const PlainConvolution &plain,
    llvm::function_ref<double(const PlainConvolution &)> bytes,
    llvm::function_ref<mlir::Value(const PlainConvolution &)> compute);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_CONVOLUTIONPRODUCT_H
