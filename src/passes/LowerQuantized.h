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
// Quantised tensors become tensors of their storage elements. What only moves
// elements moves these; other storage elements of the same numbers are an
// integer away, and products look through that. Products of two quantised
// tensors are exact sums of integers: of 32 bits where operands are bytes and
// these hold them, else in the first of f32, f64, i32 and i64 that does; sums
// of such sums with the same scales are integers, too, and those in f32 are
// read as floats as they are. Any other operation is the specification's
// dequantize_op_quantize, whose steps are rounded as the specification's.
// Scales count as rounded to the expressed type.
//
// What follows such sums, and changes scales between bytes, is one factor in
// f32: a result may be another by one where the exact number lies next to the
// middle of two. Where scales are such that many lie in the middle itself, and
// for wider storage, it is taken in f64.
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

/// Attribute of a product whose numbers are integers, so that its sums are
/// exact: they must be taken as they stand, not by other products of sums.
inline constexpr llvm::StringLiteral exactProductAttribute = "sinter.exact";

/// Whether \p function has a value of a quantised type.
bool hasQuantized(mlir::func::FuncOp function);

/// Rewrites all of \p function. The Unsupported error names the operation that
/// has a quantised type which is not uniform.
Result<void> lowerQuantized(mlir::func::FuncOp function);

} // namespace sinter

#endif // SINTER_PASSES_LOWERQUANTIZED_H
