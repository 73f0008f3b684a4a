//===- Wide.h - floats narrower than f32, computed in f32 -----------------===//

#ifndef SINTER_GRAPH_NN_WIDE_H
#define SINTER_GRAPH_NN_WIDE_H

#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Sums.h"

namespace sinter::nn {

using stablehlo::isNarrowFloat;

/// What \p op is, decomposed with its operands of floats narrower than f32
/// converted to f32 and its results rounded once: what it sums up or squares
/// on the way does not overflow. Likewise with quantised operands as the
/// numbers that they stand for, and its results quantised. Nothing where it has
/// no such operand; fails like `decompose`.
std::optional<mlir::FailureOr<llvm::SmallVector<mlir::Value>>>
decomposeInF32(DecomposableOpInterface op, mlir::OpBuilder &builder);

/// The same for quantised operands alone: for what gives one of its operand's
/// elements, or rounds once as it is.
std::optional<mlir::FailureOr<llvm::SmallVector<mlir::Value>>>
decomposeDequantized(DecomposableOpInterface op, mlir::OpBuilder &builder);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_WIDE_H
