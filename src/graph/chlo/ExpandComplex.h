//===- ExpandComplex.h - complex stablehlo functions in real arithmetic ---===//

#ifndef SINTER_GRAPH_CHLO_EXPANDCOMPLEX_H
#define SINTER_GRAPH_CHLO_EXPANDCOMPLEX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace sinter {

/// The result of the elementwise `stablehlo` function \p op of complex
/// operands, built from `stablehlo` operations on their real and imaginary
/// parts: exponential, exponential_minus_one, log, log_plus_one, sqrt, rsqrt,
/// cbrt, sine, cosine, tan, tanh, logistic, power, divide, abs, sign. Fails,
/// with nothing built, for any other operation. See ComplexFunctions.h for
/// accuracy; power and cbrt have the error of their rounded exponent in
/// addition.
mlir::FailureOr<mlir::Value> expandComplex(mlir::Operation *op,
                                           mlir::OpBuilder &builder);

} // namespace sinter

#endif // SINTER_GRAPH_CHLO_EXPANDCOMPLEX_H
