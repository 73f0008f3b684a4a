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

#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

/// The value of f32 whose elements \p op, a conversion to bytes or less, rounds
/// to nearest, ties to even: NaN, or in the range of the integers. Null if the
/// operation is none such.
mlir::Value roundedOperand(stablehlo::ConvertOp op);

/// What clamp(0, round_nearest_even(x) + z, n) is made of, which is converted
/// to bytes or less: x is cut to what is between -z and n - z, so that adding z
/// to integers is all that is left to do.
struct ShiftedRounding {
  mlir::Value operand;  ///< x, of f32.
  mlir::Value shift;    ///< z, an integer without dimensions; null: a number.
  int64_t number = 0;   ///< That.
  int64_t greatest = 0; ///< n

  /// That of \p op, if it is such a conversion.
  static std::optional<ShiftedRounding> of(stablehlo::ConvertOp op);
};

/// \p value of the operand, f32 or a vector of these, as integers of
/// \p element; NaN gives 0. \p shift is z where that is no number.
mlir::Value emitShiftedRounding(KernelBuilder &code,
                                const ShiftedRounding &rounding,
                                mlir::Value value, mlir::Value shift,
                                mlir::Type element);

/// \p value of an operand as roundedOperand() finds, f32 or a vector of these,
/// as integers of \p element; NaN gives 0.
mlir::Value emitRoundedConversion(KernelBuilder &code, mlir::Value value,
                                  mlir::Type element);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ROUNDEDCONVERSION_H
