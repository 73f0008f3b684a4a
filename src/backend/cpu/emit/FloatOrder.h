//===- FloatOrder.h - floats as integers in the same order ----------------===//
//
// The greatest of many floats, where NaN counts as the greatest and 0.0 is
// above -0.0, is the greatest of integers; LLVM vectorises that one only.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_FLOATORDER_H
#define SINTER_BACKEND_CPU_EMIT_FLOATORDER_H

#include "backend/cpu/kernels/common/KernelBuilder.h"

namespace sinter::cpu {

enum class MinOrMax { Greatest, Least };

/// Whether floats of \p type are written as sign, exponent and fraction with
/// infinities and NaNs as IEEE 754 says.
bool hasIntegerOrder(mlir::Type type);

/// Signed integers of the width of \p x (a float, or a vector of floats) in the
/// order of \p x, with NaN beyond all on the side of \p extreme.
mlir::Value emitToOrder(KernelBuilder &code, mlir::Value x, MinOrMax minOrMax);

/// The bits of floats, as integers, in the order of the specification's
/// TOTALORDER; its own inverse.
mlir::Value emitTotalOrder(KernelBuilder &code, mlir::Value bits);

/// The floats of \p type that have these integers.
mlir::Value emitFromOrder(KernelBuilder &code, mlir::Value order,
                          mlir::Type type);

/// The greater or lesser one.
mlir::Value emitMinMax(KernelBuilder &code, mlir::Value a, mlir::Value b,
                       MinOrMax minOrMax);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_FLOATORDER_H
