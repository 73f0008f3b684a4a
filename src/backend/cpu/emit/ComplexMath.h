//===- ComplexMath.h - functions of complex numbers -----------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_COMPLEXMATH_H
#define SINTER_BACKEND_CPU_EMIT_COMPLEXMATH_H

#include "backend/cpu/kernels/common/KernelBuilder.h"

namespace sinter::cpu {

/// The value of \p op, an elementwise function of complex numbers, computed in
/// f64 and rounded at the end; null for an operation that is none.
mlir::Value emitComplexFunction(KernelBuilder &code, mlir::Operation *op,
                                llvm::ArrayRef<mlir::Value> operands);

/// The greater of two complex numbers (or the lesser): real parts decide first,
/// then imaginary ones; a NaN wins.
mlir::Value emitComplexMinMax(KernelBuilder &code, mlir::Value a, mlir::Value b,
                              bool greater);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_COMPLEXMATH_H
