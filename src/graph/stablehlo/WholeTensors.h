//===- WholeTensors.h - a region of scalars, on tensors at once -----------===//
//
//   (a, b: f32) { c = add a, b }   ->   add(x, y) : 2x3xf32
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_WHOLETENSORS_H
#define SINTER_GRAPH_STABLEHLO_WHOLETENSORS_H

#include "graph/Values.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter {

/// What \p body returns, element by element, for the elements of \p arguments,
/// tensors of one static shape \p shape: built where \p emit stands. A tensor
/// inside the body gets the dimensions of \p shape before its own; of branches
/// that differ between elements both are computed. Values from outside are the
/// same for all elements. Failure for operations that have no such form.
mlir::FailureOr<Values> applyToTensors(nn::TensorBuilder &emit,
                                       mlir::Block &body,
                                       mlir::ValueRange arguments,
                                       llvm::ArrayRef<int64_t> shape);

} // namespace sinter

#endif // SINTER_GRAPH_STABLEHLO_WHOLETENSORS_H
