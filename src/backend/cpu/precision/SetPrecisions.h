//===- SetPrecisions.h - set the precision of matmuls and convolutions ----===//
//
//     cpu.attention(q, k, v), with "f32-exact" wanted
//       -> cpu.attention(q, k, v) {sinter.precision = "f32-exact"}
//
//     w = convert<f32>(v : f16)
//     cpu.low_bit_product(w, ...), of matrix units
//       -> cpu.low_bit_product(w, ...) {sinter.operand_types = [f16, f32]}
//
// Precisions that the model sets stay. A product without the attribute has
// Precision::Default.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PRECISION_SETPRECISIONS_H
#define SINTER_BACKEND_CPU_PRECISION_SETPRECISIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/ElementType.h"
#include "runtime/Precision.h"

#include <optional>

namespace sinter::cpu {

/// Whether \p op multiplies and accumulates floats.
bool multipliesFloats(mlir::Operation *op);

/// Sets \p wanted on all float products in \p function that have no precision
/// of their own.
void setPrecisions(mlir::func::FuncOp function, Precision wanted);

/// For each multiplied operand, an element type that holds its elements: its
/// own, or one of fewer bits.
inline constexpr llvm::StringLiteral operandTypesAttribute =
    "sinter.operand_types";

/// Sets that attribute on products with an operand that holds f16, bf16 or int8
/// values.
void setOperandTypes(mlir::func::FuncOp function);

/// The element type that holds all elements of operand \p index of the product
/// \p op, by its attribute or the operand's conversions; nothing if it may hold
/// any value of its own type.
std::optional<ElementType> operandTypeOf(mlir::Operation *op, size_t index);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PRECISION_SETPRECISIONS_H
