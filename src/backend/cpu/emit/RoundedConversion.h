//===- RoundedConversion.h - floats that are cut to an integer type -------===//
//
//   convert<ui8>(round_nearest_even(clamp(0, x, 255)))
//   convert<ui8>(clamp(0, round_nearest_even(x) + z, 255))
//
// What quantising ends in needs no second look at its range, and one
// instruction rounds and converts.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ROUNDEDCONVERSION_H
#define SINTER_BACKEND_CPU_EMIT_ROUNDEDCONVERSION_H

#include "backend/cpu/emit/KernelBuilder.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

/// The value of f32 whose elements \p op, a conversion to bytes or less, rounds
/// to nearest, ties to even: NaN, or in the range of the integers. Null if the
/// operation is none such.
mlir::Value roundedOperand(stablehlo::ConvertOp op);

/// \p value of such an operand, f32 or a vector of these, as integers of
/// \p element; NaN gives 0.
mlir::Value emitRoundedConversion(KernelBuilder &code, mlir::Value value,
                                  mlir::Type element);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ROUNDEDCONVERSION_H
