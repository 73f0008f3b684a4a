//===- Wide.h - floats narrower than f32, computed in f32 -----------------===//

#ifndef SINTER_GRAPH_NN_WIDE_H
#define SINTER_GRAPH_NN_WIDE_H

#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Sums.h"

namespace sinter::nn {

using stablehlo::isNarrowFloat;

/// The decomposition of \p op with operands narrower than f32 converted to f32
/// and its results rounded once, so that intermediate sums and squares do not
/// overflow. Likewise quantised operands are dequantised, and results
/// quantised. Nothing where it has no such operand; fails like `decompose`.
std::optional<mlir::FailureOr<llvm::SmallVector<mlir::Value>>>
decomposeInF32(DecomposableOpInterface op, mlir::OpBuilder &builder);

/// The same for quantised operands alone: for operations that return elements
/// of their operand, or already round once.
std::optional<mlir::FailureOr<llvm::SmallVector<mlir::Value>>>
decomposeDequantized(DecomposableOpInterface op, mlir::OpBuilder &builder);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_WIDE_H
