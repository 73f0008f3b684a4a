//===- MatMulKernel.h - kernels of matrix products ------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_MATMULKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_MATMULKERNEL_H

#include "backend/cpu/emit/RootKernel.h"
#include "graph/stablehlo/StablehloOps.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// A product with a generator: in matrix form, of numbers that it multiplies.
bool isMatMul(mlir::Operation *op);

/// Whether what is elementwise behind \p op, a product with a generator, can be
/// computed on vectors of its results.
bool hasRowsOfResults(mlir::Operation *op);

/// The kernel that \p op is the root of.
std::unique_ptr<RootKernel>
createMatMulKernel(KernelOp kernel, mlir::Operation *op, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_MATMULKERNEL_H
