//===- Functions.h - special functions built from stablehlo ops -----------===//
//
// Each takes tensors of one float type (or complex<f32>, complex<f64> where
// noted) and returns one of the same type. Types smaller than f32 are computed
// in f32. Where the elementary functions of `stablehlo` are within 1 unit in
// the last place, these are within 3 (circular and hyperbolic functions, erf),
// 8 (the others, away from zeros at negative arguments) or as noted.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CHLO_FUNCTIONS_H
#define SINTER_GRAPH_CHLO_FUNCTIONS_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::chlo {

using nn::TensorBuilder;

// Real or complex.
mlir::Value acos(TensorBuilder &emit, mlir::Value x);
mlir::Value acosh(TensorBuilder &emit, mlir::Value x);
mlir::Value asin(TensorBuilder &emit, mlir::Value x);
mlir::Value asinh(TensorBuilder &emit, mlir::Value x);
mlir::Value atan(TensorBuilder &emit, mlir::Value x);
mlir::Value atanh(TensorBuilder &emit, mlir::Value x);
mlir::Value conj(TensorBuilder &emit, mlir::Value x);
mlir::Value cosh(TensorBuilder &emit, mlir::Value x);
mlir::Value sinh(TensorBuilder &emit, mlir::Value x);
mlir::Value square(TensorBuilder &emit, mlir::Value x);
mlir::Value tan(TensorBuilder &emit, mlir::Value x);

/// Real, within few units of the last place everywhere. In f32, cosh and sinh
/// above follow chlo's definitions, which lose |x| / 2 units.
mlir::Value preciseCosh(TensorBuilder &emit, mlir::Value x);
mlir::Value preciseSinh(TensorBuilder &emit, mlir::Value x);

/// Complex: w with asin(z) = atan2(re z, re w) + i sign(im z) im w and
/// acos(z) = atan2(re w, re z) - i sign(im z) im w.
mlir::Value asinAcosKernel(TensorBuilder &emit, mlir::Value z);

// Real.
mlir::Value besselI1e(TensorBuilder &emit, mlir::Value x);
mlir::Value digamma(TensorBuilder &emit, mlir::Value x);
mlir::Value erf(TensorBuilder &emit, mlir::Value x);
mlir::Value erfc(TensorBuilder &emit, mlir::Value x);
/// erf as one operation of `nn`, for which backends have kernels.
mlir::Value wholeErf(TensorBuilder &emit, mlir::Value x);
mlir::Value wholeErfc(TensorBuilder &emit, mlir::Value x);
mlir::Value erfInv(TensorBuilder &emit, mlir::Value x);
mlir::Value lgamma(TensorBuilder &emit, mlir::Value x);
mlir::Value polygamma(TensorBuilder &emit, mlir::Value n, mlir::Value x);
mlir::Value zeta(TensorBuilder &emit, mlir::Value x, mlir::Value q);
mlir::Value nextAfter(TensorBuilder &emit, mlir::Value x, mlir::Value y);

// Predicates: i1.
mlir::Value isInf(TensorBuilder &emit, mlir::Value x);
mlir::Value isPosInf(TensorBuilder &emit, mlir::Value x);
mlir::Value isNegInf(TensorBuilder &emit, mlir::Value x);

/// Integers: the upper half of the product.
mlir::Value mulhi(TensorBuilder &emit, mlir::Value lhs, mlir::Value rhs);

} // namespace sinter::chlo

#endif // SINTER_GRAPH_CHLO_FUNCTIONS_H
