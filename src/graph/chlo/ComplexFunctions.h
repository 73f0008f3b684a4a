//===- ComplexFunctions.h - complex functions in real arithmetic ----------===//
//
// Each is built from real operations on the two parts, with no overflow,
// underflow or cancellation on the way that the result does not have: within 3
// units in the last place in each part where the elementary real functions are
// within 1.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CHLO_COMPLEXFUNCTIONS_H
#define SINTER_GRAPH_CHLO_COMPLEXFUNCTIONS_H

#include "graph/nn/Emit.h"

namespace sinter::chlo::complex {

using nn::Emit;

struct Parts {
  mlir::Value re, im;
};
Parts partsOf(Emit &emit, mlir::Value z);
mlir::Value join(Emit &emit, Parts parts);

/// sqrt(a^2 + b^2) of what is not negative.
mlir::Value hypot(Emit &emit, mlir::Value a, mlir::Value b);

/// Of z = x + i y with x, y >= 0: asin(z) = atan2(x, re) + i im.
Parts asinAcosKernel(Emit &emit, mlir::Value x, mlir::Value y);

// Of and to complex tensors.
mlir::Value acos(Emit &emit, mlir::Value z);
mlir::Value acosh(Emit &emit, mlir::Value z);
mlir::Value asin(Emit &emit, mlir::Value z);
mlir::Value asinh(Emit &emit, mlir::Value z);
mlir::Value atan(Emit &emit, mlir::Value z);
mlir::Value atanh(Emit &emit, mlir::Value z);
mlir::Value cosh(Emit &emit, mlir::Value z);
mlir::Value sinh(Emit &emit, mlir::Value z);
mlir::Value square(Emit &emit, mlir::Value z);

} // namespace sinter::chlo::complex

#endif // SINTER_GRAPH_CHLO_COMPLEXFUNCTIONS_H
