//===- LowerQuantized.h - quantised tensors as integers -------------------===//
//
//   y = add(a, b) : !quant.uniform<i8:f32, s:z>
//     ->  x = add((convert<f32>(a) - za) * sa, ... b ...)
//         y = convert<i8>(round(clamp(x / s + z)))
//
//   y = dot_general(a, b)
//     ->  n = dot_general(convert<i32>(a) - za, convert<i32>(b) - zb) : i32
//         y = convert<i8>(round(clamp(convert<f32>(n) * (sa * sb / s) + z)))
//
// Quantised tensors become tensors of their storage elements. Operations that
// only move elements move these. A conversion that only shifts the storage and
// the zero point adds an integer, and products look through it. Products of two
// quantised tensors accumulate integers exactly: in 32 bits where operands are
// 8-bit and that suffices, else in the first of f32, f64, i32 and i64 that
// does. Additions of accumulators with the same scales are in integers, too,
// and f32 accumulators need no conversion to floats. Any other operation is the
// specification's dequantize_op_quantize, whose steps are rounded as in the
// specification. Scales are rounded to the expressed type.
//
// Requantisation of accumulators, and between 8-bit types, is a multiplication
// by one factor in f32: a result may differ by one where the exact value is
// close to a tie. Where scales are such that many values are ties, and for
// wider storage, it is computed in f64.
//
// Restrictions:
//   - Shapes are static.
//   - Arguments and results of functions change their types.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_LOWERQUANTIZED_H
#define SINTER_PASSES_LOWERQUANTIZED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

namespace sinter {

/// Attribute of a product whose elements are integers, so that its accumulators
/// are exact: it must be computed directly, not by an algorithm with other
/// intermediate values.
inline constexpr llvm::StringLiteral exactProductAttribute = "sinter.exact";

/// Whether \p function has a value of a quantised type.
bool hasQuantized(mlir::func::FuncOp function);

/// Rewrites all of \p function. The Unsupported error names the operation that
/// has a quantised type which is not uniform.
Result<void> lowerQuantized(mlir::func::FuncOp function);

} // namespace sinter

#endif // SINTER_PASSES_LOWERQUANTIZED_H
