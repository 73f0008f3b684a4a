//===- MatMul.h - dot_general ops that are a MatMul -----------------------===//

#ifndef SINTER_FORMATS_IMPORT_MATMUL_H
#define SINTER_FORMATS_IMPORT_MATMUL_H

#include "graph/IntegerRange.h"
#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter::formats {

/// Whether \p op multiplies matrices as NumPy does: [batch..., m, k] by
/// [batch..., k, n], or [..., k] by [k, n].
bool isMatMul(stablehlo::DotGeneralOp op);

/// The operands of \p op as a MatMul, which broadcasts batches itself: if one
/// operand is a broadcast to the other's batches, the value before that.
std::pair<mlir::Value, mlir::Value> matMulOperands(stablehlo::DotGeneralOp op);

/// The range of the accumulators of \p op, an integer convolution or
/// dot_general; a reduction depth of 2^16 is assumed if it is dynamic.
IntegerRange accumulatorRange(mlir::Operation *op);

/// The type in which formats without integer convolutions and matmuls compute
/// \p op, a convolution or a dot_general. If the result is a float, its type,
/// to which the operands are converted; for integers f64, if it and the
/// result's type hold the accumulators exactly. Nothing for other types.
std::optional<mlir::Type> typeOfProducts(mlir::Operation *op);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_MATMUL_H
