//===- SimplifyConvolutions.h - convolutions that the kernels take --------===//
//
// Convolutions that the blocked kernels do not compute, or compute with most
// of each block unused, become ones that they do, by operations that move
// elements:
//
//     x f32 [N, C, D, H, W] * k [K, C, 3, R, S]
//   becomes
//     x -- 3 slices along D, side by side as channels --> [N * D, 3 * C, H, W]
//       -- convolution by k [K, 3 * C, R, S] --> [N, D, K, H', W'] -->
//       transpose
//
//   - base-dilated inputs: ConvolutionPhases;
//   - few outputs: ConvolutionColumns;
//   - groups of images become groups of features;
//   - of more than two spatial dimensions neighbours along which each pixel is
//     by itself become one, and the outermost images and channels;
//   - none at all, f64: ConvolutionProduct;
//   - floats narrower than f32 are converted, as sums of them are f32 by
//     definition; complex numbers are four convolutions;
//   - integers whose sums a float holds exactly (IntegerRange) are floats: f32,
//     a part of the channels at a time where all are too many, or f64.
//
// Bytes have kernels of their own; where f32 holds their sums, too,
// cost/Estimates says which is faster.
//
// Restrictions:
//   - Integers whose sums may leave f64 or the result's type stay, as do
//   windows
//     that no few slices unfold, more than 64 phases, and numbers of a window
//     beyond 2^31.
//   - A product stays where a group has fewer than 4 outputs: its patches would
//     cost more than the loops.
//   - Slices side by side of more than 64 MiB are made in pieces: about 32
//     where they would be more.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_SIMPLIFYCONVOLUTIONS_H
#define SINTER_BACKEND_CPU_LAYOUT_SIMPLIFYCONVOLUTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Rewrites all of \p function, whose shapes are static.
void simplifyConvolutions(mlir::func::FuncOp function,
                          const PassSetting &setting, PatternRun &run);

llvm::ArrayRef<PatternInfo> simplifyConvolutionsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_SIMPLIFYCONVOLUTIONS_H
