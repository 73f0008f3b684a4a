//===- ExactWidening.h - roundings that change nothing --------------------===//
//
//   extf(truncf(maximumf(extf(a), extf(b))))  ->  maximumf(extf(a), extf(b))
//
// Arithmetic on f16 and bf16 is carried out in f32 and rounded after each
// operation. What gives one of its operands, or changes a sign, has nothing to
// round: whoever goes on in f32 takes it as it was. Nor has what is read from
// memory that holds such numbers in f32 (layout/WidenOnce.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_EXACTWIDENING_H
#define SINTER_BACKEND_CPU_EMIT_EXACTWIDENING_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace sinter::cpu {

/// On a stablehlo.convert to f16 or bf16, and on what is made of it: the
/// operand's numbers are of that type.
inline constexpr llvm::StringLiteral roundsNothingAttribute =
    "cpu.rounds_nothing";

/// What \p narrow, a float or a vector of them, was rounded from, if that was
/// a number of its type already, of type \p wide; else null.
mlir::Value exactlyWide(mlir::Value narrow, mlir::Type wide);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_EXACTWIDENING_H
