//===- Math.h - elementary functions in vectorisable arithmetic -----------===//
//
// f32 functions as straight-line code (range reduction and a polynomial), on
// scalars or vectors, that LLVM vectorises in a loop; some compute in f64 on
// the way. Errors are below 3 units in the last place unless noted; infinities,
// NaN, zeros and denormals are treated as the C library does. Results depend on
// the machine in the last digits, where a * b + c is rounded once or twice, but
// neither on how a loop was cut nor on how long vectors are.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_MATH_H
#define SINTER_BACKEND_CPU_EMIT_MATH_H

#include "backend/cpu/kernels/common/KernelBuilder.h"

namespace sinter::cpu {

/// Whether an element of \p op takes many instructions, or a call.
bool isFunction(mlir::Operation *op);

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

mlir::Value emitSin(KernelBuilder &code, mlir::Value x);
mlir::Value emitCos(KernelBuilder &code, mlir::Value x);
mlir::Value emitTan(KernelBuilder &code, mlir::Value x);
mlir::Value emitAsin(KernelBuilder &code, mlir::Value x);
mlir::Value emitAcos(KernelBuilder &code, mlir::Value x);
mlir::Value emitAtan(KernelBuilder &code, mlir::Value x);
mlir::Value emitAtan2(KernelBuilder &code, mlir::Value y, mlir::Value x);

mlir::Value emitCbrt(KernelBuilder &code, mlir::Value x);
mlir::Value emitPow(KernelBuilder &code, mlir::Value x, mlir::Value y);
/// C's fmod, exactly, for |x / y| up to 2^\p quotientBits: of any two numbers
/// unless given.
mlir::Value emitRemainder(KernelBuilder &code, mlir::Value x, mlir::Value y,
                          int quotientBits = 277);

/// Of f16, bf16 or narrower floats, in f32, to 17 bits: what they are rounded
/// to is within 0.52 units in the last place of f16.
mlir::Value emitExpForHalf(KernelBuilder &code, mlir::Value x);
mlir::Value emitErfForHalf(KernelBuilder &code, mlir::Value x);
mlir::Value emitLogisticForHalf(KernelBuilder &code, mlir::Value x);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_MATH_H
