//===- Math.h - elementary functions in vectorisable arithmetic -----------===//
//
// f32 functions as straight-line code (range reduction and a polynomial), on
// scalars or vectors, that LLVM vectorises in a loop. Errors are below 3 units
// in the last place unless noted; infinities, NaN, zeros and denormals are
// treated as the C library does. Every operation stands for itself, so that
// results do not depend on how a loop was cut, except that a * b + c may be
// rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_MATH_H
#define SINTER_BACKEND_CPU_EMIT_MATH_H

#include "backend/cpu/emit/KernelBuilder.h"

namespace sinter::cpu {

mlir::Value emitExp(KernelBuilder &code, mlir::Value x);
mlir::Value emitExpm1(KernelBuilder &code, mlir::Value x);
mlir::Value emitLog(KernelBuilder &code, mlir::Value x);
mlir::Value emitLog1p(KernelBuilder &code, mlir::Value x);
mlir::Value emitTanh(KernelBuilder &code, mlir::Value x);
mlir::Value emitErf(KernelBuilder &code, mlir::Value x);
/// Within 5 units in the last place.
mlir::Value emitErfc(KernelBuilder &code, mlir::Value x);
/// 1 / (1 + exp(-x))
mlir::Value emitLogistic(KernelBuilder &code, mlir::Value x);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_MATH_H
