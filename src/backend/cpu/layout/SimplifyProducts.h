//===- SimplifyProducts.h - products that have a kernel -------------------===//
//
//   dot_general(a, b) : bf16
//     ->  convert<bf16>(dot_general(convert<f32>(a), convert<f32>(b)))
//   dot_general(convert(a) - z, w) : i32
//     ->  dot_general(a : ui8, w : i8) : i32 - z * sums(w)  (Int8Products.h)
//   dot_general(convert(a) - x, convert(b) - y) : i32
//     ->  cpu.zero_point_product(a, b, x, y)  (ZeroPointProducts.h)
//   dot_general(a, b) : i8, i8 -> i32
//     ->  convert<i32>(dot_general(convert<f32>(a), convert<f32>(b)))
//   dot_general(a, b)
//     ->  dot_general(transpose(a), transpose(b)), what is collapsed side by
//         side
//   dot_general(matrix, vector)
//     ->  reduce(multiply(matrix, broadcast_in_dim(vector)))
//
// The kernels of products take matrices of f32 or f64, and bytes by bytes.
// Sums of narrower floats are f32 by definition, rounded once; sums of integers
// are exact in the first of f32 and f64 that holds them all. Complex numbers
// are four products, or where sums are short an elementwise one of every pair,
// summed up.
//
// Restrictions:
//   - Shapes are static.
//   - Sums of integers that f64 or the result does not hold stay, and products
//     of truth values.
//   - A vector by a constant matrix stays: the matrix is packed.
//   - Of integers, what is too small to pay for it stays.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_SIMPLIFYPRODUCTS_H
#define SINTER_BACKEND_CPU_LAYOUT_SIMPLIFYPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Rewrites all of \p function, whose shapes are static.
void simplifyProducts(mlir::func::FuncOp function, const PassSetting &setting,
                      PatternRun &run);

llvm::ArrayRef<PatternInfo> simplifyProductsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_SIMPLIFYPRODUCTS_H
