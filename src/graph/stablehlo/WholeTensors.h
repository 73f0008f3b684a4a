//===- WholeTensors.h - applies a region of scalars to whole tensors ------===//
//
//   (a, b: f32) { c = add a, b }   ->   add(x, y) : 2x3xf32
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_WHOLETENSORS_H
#define SINTER_GRAPH_STABLEHLO_WHOLETENSORS_H

#include "graph/Values.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter {

/// Applies \p body element by element to \p arguments, tensors of one static
/// shape \p shape; builds at \p emit's insertion point. A tensor inside the
/// body gets the dimensions of \p shape before its own; if a condition differs
/// between elements, both branches are computed. Captured values are the same
/// for all elements. Failure for operations that have no such form.
mlir::FailureOr<Values> applyToTensors(nn::TensorBuilder &emit,
                                       mlir::Block &body,
                                       mlir::ValueRange arguments,
                                       llvm::ArrayRef<int64_t> shape);

} // namespace sinter

#endif // SINTER_GRAPH_STABLEHLO_WHOLETENSORS_H
