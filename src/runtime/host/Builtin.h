//===- Builtin.h - host functions that are always there -------------------===//

#ifndef SINTER_RUNTIME_HOST_BUILTIN_H
#define SINTER_RUNTIME_HOST_BUILTIN_H

#include "runtime/HostFunctions.h"

namespace sinter::host {

/// "sinter.fft": a discrete Fourier transform along the last dimensions of one
/// complex or real tensor (stablehlo.fft). Configuration: "kind" (0 FFT, 1
/// IFFT, 2 RFFT, 3 IRFFT) and "lengths". Computed in f64.
Result<void> fft(const HostCall &call);

/// "sinter.cholesky": the factors of a stack of Hermitian matrices
/// (stablehlo.cholesky), the other triangle zero. Configuration: "lower". A
/// matrix that is not positive definite gives NaN from there on. Computed in
/// f64.
Result<void> cholesky(const HostCall &call);

/// "sinter.triangular_solve": stablehlo.triangular_solve of two stacks of
/// matrices. Configuration: "left_side", "lower", "unit_diagonal", "transpose"
/// (0 none, 1 transpose, 2 adjoint). Computed in f64.
Result<void> triangularSolve(const HostCall &call);

/// "sinter.rng_bit_generator": random bits that follow from a state, and the
/// next state, as the interpreter draws them. Configuration: "algorithm" (0 the
/// default, 1 ThreeFry, 2 Philox).
Result<void> rngBitGenerator(const HostCall &call);

/// "sinter.rng": the next numbers of the run's random stream. Configuration:
/// "distribution" (1 uniform, 2 normal).
Result<void> rng(const HostCall &call);

} // namespace sinter::host

#endif // SINTER_RUNTIME_HOST_BUILTIN_H
