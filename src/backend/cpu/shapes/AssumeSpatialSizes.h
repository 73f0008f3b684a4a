//===- AssumeSpatialSizes.h - how large images of unknown sizes may be ----===//
//
//   cpu.convolution(%x) : ? x 32 x h x w x 16          h = floor(height / 32)
//     ->  the same {estimated_area = [7, 7]}
//
// What computes a convolution is chosen by how long each way takes, which
// depends on the image. Where its size is named, it is what follows from
// dimensions of the model of `estimatedDimension` each: the deep layers of a
// network see small images, and as many channels of another one large ones.
//
// Restrictions: of convolutions whose result has a named height or width, one
// that the table of sizes knows.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_ASSUMESPATIALSIZES_H
#define SINTER_BACKEND_CPU_SHAPES_ASSUMESPATIALSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// The height and width of the images that classifiers are trained for.
inline constexpr int64_t estimatedDimension = 224;

/// Sets `estimated_area` of the convolutions of \p function.
void assumeSpatialSizes(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_ASSUMESPATIALSIZES_H
