//===- SetPrecisions.h - every product says how exactly it is computed ----===//
//
//     cpu.attention(q, k, v), with "f32-exact" wanted
//       -> cpu.attention(q, k, v) {sinter.precision = "f32-exact"}
//
// What the model says itself stays. A product without the attribute is one of
// Precision::Default.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SETPRECISIONS_H
#define SINTER_BACKEND_CPU_SETPRECISIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Precision.h"

namespace sinter::cpu {

/// Lets all products of floats in \p function that are asked for nothing else
/// be computed with \p wanted.
void setPrecisions(mlir::func::FuncOp function, Precision wanted);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SETPRECISIONS_H
