//===- MatMul.h - which products MatMul computes --------------------------===//

#ifndef SINTER_FORMATS_IMPORT_MATMUL_H
#define SINTER_FORMATS_IMPORT_MATMUL_H

#include "graph/IntegerRange.h"
#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter::formats {

/// Whether \p op multiplies matrices as NumPy does: [batch..., m, k] by
/// [batch..., k, n], or [..., k] by [k, n].
bool isMatMul(stablehlo::DotGeneralOp op);

/// The operands of a MatMul that is \p op, which repeats batches by itself: one
/// operand may be what it is before it is repeated for each batch of the other.
std::pair<mlir::Value, mlir::Value> matMulOperands(stablehlo::DotGeneralOp op);

/// What the sums of \p op, a product of integers, may be; of as many as 2^16
/// products where a size is unknown.
IntegerRange sumsOf(mlir::Operation *op);

/// The type that formats without products of integers compute \p op in, a
/// convolution or a dot_general: its result's where that is a float, into which
/// the operands are converted; for integers f64 if it holds the products' sums
/// exactly and the result's type does, too. Nothing for other types.
std::optional<mlir::Type> typeOfProducts(mlir::Operation *op);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_MATMUL_H
