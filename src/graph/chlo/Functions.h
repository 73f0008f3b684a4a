//===- Functions.h - special functions built from stablehlo ops -----------===//
//
// Each takes tensors of one float type (or complex<f32>, complex<f64> where
// said) and gives one of the same type. Types smaller than f32 are computed in
// f32. Where the elementary functions of `stablehlo` are within 1 unit in the
// last place, these are within 3 (circular and hyperbolic functions, erf), 8
// (the others, away from zeros at negative arguments) or what is said beside.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CHLO_FUNCTIONS_H
#define SINTER_GRAPH_CHLO_FUNCTIONS_H

#include "graph/nn/Emit.h"

namespace sinter::chlo {

using nn::Emit;

// Real or complex.
mlir::Value acos(Emit &emit, mlir::Value x);
mlir::Value acosh(Emit &emit, mlir::Value x);
mlir::Value asin(Emit &emit, mlir::Value x);
mlir::Value asinh(Emit &emit, mlir::Value x);
mlir::Value atan(Emit &emit, mlir::Value x);
mlir::Value atanh(Emit &emit, mlir::Value x);
mlir::Value conj(Emit &emit, mlir::Value x);
mlir::Value cosh(Emit &emit, mlir::Value x);
mlir::Value sinh(Emit &emit, mlir::Value x);
mlir::Value square(Emit &emit, mlir::Value x);
mlir::Value tan(Emit &emit, mlir::Value x);

/// Real, within few units of the last place everywhere. In f32, cosh and sinh
/// above are what chlo's are defined as, which loses |x| / 2 units.
mlir::Value preciseCosh(Emit &emit, mlir::Value x);
mlir::Value preciseSinh(Emit &emit, mlir::Value x);

/// Complex: w with asin(z) = atan2(re z, re w) + i sign(im z) im w and
/// acos(z) = atan2(re w, re z) - i sign(im z) im w.
mlir::Value asinAcosKernel(Emit &emit, mlir::Value z);

// Real.
mlir::Value besselI1e(Emit &emit, mlir::Value x);
mlir::Value digamma(Emit &emit, mlir::Value x);
mlir::Value erf(Emit &emit, mlir::Value x);
mlir::Value erfc(Emit &emit, mlir::Value x);
/// The same as one operation of `nn`, for which backends have code.
mlir::Value wholeErf(Emit &emit, mlir::Value x);
mlir::Value wholeErfc(Emit &emit, mlir::Value x);
mlir::Value erfInv(Emit &emit, mlir::Value x);
mlir::Value lgamma(Emit &emit, mlir::Value x);
mlir::Value polygamma(Emit &emit, mlir::Value n, mlir::Value x);
mlir::Value zeta(Emit &emit, mlir::Value x, mlir::Value q);
mlir::Value nextAfter(Emit &emit, mlir::Value x, mlir::Value y);

// Predicates: i1.
mlir::Value isInf(Emit &emit, mlir::Value x);
mlir::Value isPosInf(Emit &emit, mlir::Value x);
mlir::Value isNegInf(Emit &emit, mlir::Value x);

/// Integers: the upper half of the product.
mlir::Value mulhi(Emit &emit, mlir::Value lhs, mlir::Value rhs);

} // namespace sinter::chlo

#endif // SINTER_GRAPH_CHLO_FUNCTIONS_H
