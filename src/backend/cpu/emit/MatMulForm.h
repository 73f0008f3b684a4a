//===- MatMulForm.h - a dot_general as a batch of matrix products ---------===//

#ifndef SINTER_BACKEND_CPU_EMIT_MATMULFORM_H
#define SINTER_BACKEND_CPU_EMIT_MATMULFORM_H

#include "backend/cpu/kernels/gemm/MatMul.h"
#include "graph/stablehlo/StablehloOps.h"

#include <optional>

namespace sinter::cpu {

struct MatMulForm {
  MatMulShape shape;
  /// Where element [k, n] of a constant right-hand side lies.
  int64_t packedKStride = 0, packedNStride = 0;

  /// Nothing if the operands' dimensions do not lie in memory as matrices:
  /// what is collapsed into rows, columns or the contracted dimension must be
  /// evenly spaced. \p hasConstantRhs asks for a packed right-hand side.
  static std::optional<MatMulForm> of(const stablehlo::ProductSide &lhs,
                                      const stablehlo::ProductSide &rhs,
                                      bool hasConstantRhs);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_MATMULFORM_H
