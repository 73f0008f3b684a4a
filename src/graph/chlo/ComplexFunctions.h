//===- ComplexFunctions.h - complex functions in real arithmetic ----------===//
//
// Each is built from real operations on the real and imaginary parts, without
// intermediate overflow, underflow or cancellation: within 3 units in the last
// place in each part where the elementary real functions are within 1.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CHLO_COMPLEXFUNCTIONS_H
#define SINTER_GRAPH_CHLO_COMPLEXFUNCTIONS_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::chlo::complex {

using nn::TensorBuilder;

struct Parts {
  mlir::Value re, im;
};
Parts partsOf(TensorBuilder &emit, mlir::Value z);
mlir::Value join(TensorBuilder &emit, Parts parts);

/// sqrt(a^2 + b^2) of non-negative a and b.
mlir::Value hypot(TensorBuilder &emit, mlir::Value a, mlir::Value b);

/// For z = x + i y with x, y >= 0: asin(z) = atan2(x, re) + i im.
Parts asinAcosKernel(TensorBuilder &emit, mlir::Value x, mlir::Value y);

// On complex tensors.
mlir::Value acos(TensorBuilder &emit, mlir::Value z);
mlir::Value acosh(TensorBuilder &emit, mlir::Value z);
mlir::Value asin(TensorBuilder &emit, mlir::Value z);
mlir::Value asinh(TensorBuilder &emit, mlir::Value z);
mlir::Value atan(TensorBuilder &emit, mlir::Value z);
mlir::Value atanh(TensorBuilder &emit, mlir::Value z);
mlir::Value cosh(TensorBuilder &emit, mlir::Value z);
mlir::Value sinh(TensorBuilder &emit, mlir::Value z);
mlir::Value square(TensorBuilder &emit, mlir::Value z);

} // namespace sinter::chlo::complex

#endif // SINTER_GRAPH_CHLO_COMPLEXFUNCTIONS_H
