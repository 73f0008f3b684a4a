//===- LowerQuantized.h - quantised tensors as integers -------------------===//
//
//   y = add(a, b) : !quant.uniform<i8:f32, s:z>
//     ->  x = add((convert<f32>(a) - za) * sa, ... b ...)
//         y = convert<i8>(round(clamp(x / s + z)))
//
//   y = dot_general(a, b)
//     ->  n = dot_general(convert<f32>(a) - za, convert<f32>(b) - zb) : f32
//         y = convert<i8>(round(clamp(convert<f64>(n) * (sa * sb) / s + z)))
//
// Quantised tensors become tensors of their storage elements. What only moves
// elements moves these; products of two quantised tensors are sums of integers,
// taken exactly in the first of f32, f64, i32 and i64 that holds them; any
// other operation is the specification's dequantize_op_quantize, whose steps
// are rounded as the specification's. Scales count as rounded to the expressed
// type.
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
