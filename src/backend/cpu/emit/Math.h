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

#include "backend/cpu/emit/Emission.h"

namespace sinter::cpu {

mlir::Value emitExp(Emission &emission, mlir::Value x);
mlir::Value emitExpm1(Emission &emission, mlir::Value x);
mlir::Value emitLog(Emission &emission, mlir::Value x);
mlir::Value emitLog1p(Emission &emission, mlir::Value x);
mlir::Value emitTanh(Emission &emission, mlir::Value x);
mlir::Value emitErf(Emission &emission, mlir::Value x);
/// Within 5 units in the last place.
mlir::Value emitErfc(Emission &emission, mlir::Value x);
/// 1 / (1 + exp(-x))
mlir::Value emitLogistic(Emission &emission, mlir::Value x);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_MATH_H
