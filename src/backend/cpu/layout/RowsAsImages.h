//===- RowsAsImages.h - one spatial dimension as an image of one row ------===//
//
// Blocks of channels hold images, [N, C, H, W]. A value with one spatial
// dimension, [N, C, W], is an image of one row:
//
//     [N, C, W] -- reshape --> [N, C, 1, W] -- cpu.pack --> [N, CB, 1, W, L]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_ROWSASIMAGES_H
#define SINTER_BACKEND_CPU_LAYOUT_ROWSASIMAGES_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::cpu {

/// Whether values of \p rank dimensions may stand in blocks.
bool isImageRank(int64_t rank);

/// The dimension of the image that dimension \p dim of a value of \p rank is.
int64_t imageDimOf(int64_t rank, int64_t dim);

/// For each dimension of the blocks that of a value of \p rank; -1 for those
/// that it does not have.
llvm::ArrayRef<int64_t> blockedOrder(int64_t rank);

/// The type of \p plain as an image.
mlir::RankedTensorType imageType(mlir::RankedTensorType plain);

/// \p plain as an image.
mlir::Value asImage(nn::TensorBuilder &emit, mlir::Value plain);
/// \p image as a value of \p rank dimensions.
mlir::Value fromImage(nn::TensorBuilder &emit, mlir::Value image, int64_t rank);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_ROWSASIMAGES_H
