//===- MatMul.h - which products MatMul computes --------------------------===//

#ifndef SINTER_FORMATS_IMPORT_MATMUL_H
#define SINTER_FORMATS_IMPORT_MATMUL_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::formats {

/// Whether \p op multiplies matrices as NumPy does: [batch..., m, k] by
/// [batch..., k, n], or [..., k] by [k, n].
bool isMatMul(stablehlo::DotGeneralOp op);

/// The operands of a MatMul that is \p op, which repeats batches by itself: one
/// operand may be what it is before it is repeated for each batch of the other.
std::pair<mlir::Value, mlir::Value> matMulOperands(stablehlo::DotGeneralOp op);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_MATMUL_H
