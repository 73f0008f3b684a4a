//===- SetPrecisions.h - every product says how exactly it is computed ----===//
//
//     cpu.attention(q, k, v), with "f32-exact" wanted
//       -> cpu.attention(q, k, v) {sinter.precision = "f32-exact"}
//
//     w = convert<f32>(v : f16)
//     cpu.narrow_product(w, ...), of matrix units
//       -> cpu.narrow_product(w, ...) {sinter.numbers = [f16, f32]}
//
// What the model says itself stays. A product without the attribute is one of
// Precision::Default.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SETPRECISIONS_H
#define SINTER_BACKEND_CPU_SETPRECISIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/ElementType.h"
#include "runtime/Precision.h"

#include <optional>

namespace sinter::cpu {

/// Whether \p op multiplies floats and sums up.
bool multipliesFloats(mlir::Operation *op);

/// Lets all products of floats in \p function that are asked for nothing else
/// be computed with \p wanted.
void setPrecisions(mlir::func::FuncOp function, Precision wanted);

/// Which numbers the operands that are multiplied hold, a type each: their own,
/// or one of fewer bits.
inline constexpr llvm::StringLiteral numbersAttribute = "sinter.numbers";

/// Lets products say so of which an operand has numbers of f16, bf16 or bytes.
void sayWhichNumbers(mlir::func::FuncOp function);

/// The element type that holds all numbers of operand \p index of the product
/// \p op, as it says or conversions in front of it tell; nothing where they may
/// be any of their own type.
std::optional<ElementType> numbersOf(mlir::Operation *op, size_t index);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SETPRECISIONS_H
