//===- ExactWidening.h - remove roundings that are exact ------------------===//
//
//   extf(truncf(maximumf(extf(a), extf(b))))  ->  maximumf(extf(a), extf(b))
//
// Arithmetic on f16 and bf16 is done in f32 and rounded after each operation.
// Operations that return one of their operands, or change a sign, need no
// rounding: f32 users take the unrounded value. Nor do loads of f16 and bf16
// values that are stored as f32 (precision/WidenOnce.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PRECISION_EXACTWIDENING_H
#define SINTER_BACKEND_CPU_PRECISION_EXACTWIDENING_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace sinter::cpu {

/// On a stablehlo.convert to f16 or bf16, and on the operation that it is
/// lowered to: the result type represents the operand exactly.
inline constexpr llvm::StringLiteral roundsNothingAttribute =
    "cpu.rounds_nothing";

/// The value of type \p wide that \p narrow, a float or a vector, was rounded
/// from, if the rounding was exact; else null.
mlir::Value exactlyWide(mlir::Value narrow, mlir::Type wide);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PRECISION_EXACTWIDENING_H
