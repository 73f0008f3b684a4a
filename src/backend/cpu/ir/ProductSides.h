//===- ProductSides.h - operands of a matmul as matrices ------------------===//

#ifndef SINTER_BACKEND_CPU_IR_PRODUCTSIDES_H
#define SINTER_BACKEND_CPU_IR_PRODUCTSIDES_H

#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Sums.h"

namespace sinter::cpu {

/// \p value, the left operand \p side of a matmul, with the contracted
/// dimensions behind the others.
mlir::Value withContractedLast(nn::TensorBuilder &emit, mlir::Value value,
                               const stablehlo::ProductSide &side);

/// Whether the weights \p side of a matmul lie as a matrix or a transposed one.
bool isMatrix(const stablehlo::ProductSide &side);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_PRODUCTSIDES_H
