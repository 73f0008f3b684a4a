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

/// "sinter.non_zero": the places of the elements of the first input, flags,
/// that are not zero, in row-major order: [rank, count] of i64. As many as the
/// output has room for (the second input), which is a System error otherwise.
Result<void> nonZero(const HostCall &call);

/// Rows that a loop gathers, in a list of the run ("list" of the
/// configuration): "sinter.begin_rows" empties it, "sinter.add_rows" adds those
/// of the input, "sinter.count_rows" gives how many there are (i64),
/// "sinter.take_rows" gives them, as many as the output has room for (the
/// inputs are its sizes), which is a System error otherwise, and forgets them.
Result<void> beginRows(const HostCall &call);
Result<void> addRows(const HostCall &call);
Result<void> countRows(const HostCall &call);
Result<void> takeRows(const HostCall &call);

/// "sinter.suppress": nn.non_max_suppression of boxes, scores, the most boxes
/// of a class, the overlap and (or not) the threshold. Its rows are the list
/// "list" of the run then. Configuration: "centred", too.
Result<void> suppress(const HostCall &call);

/// "lapack_spotrf_ffi" and so on, as JAX calls them from programs for CPUs: the
/// routines of LAPACK by the same names on stacks of matrices. Configuration:
/// their options by name, letters as numbers ("uplo=76").
Result<void> lapackPotrf(const HostCall &call);
Result<void> lapackGetrf(const HostCall &call);
Result<void> lapackGeqrf(const HostCall &call);
Result<void> lapackOrgqr(const HostCall &call);
Result<void> lapackSyevd(const HostCall &call);
Result<void> lapackGesdd(const HostCall &call);
Result<void> lapackTrsm(const HostCall &call);
Result<void> lapackGeev(const HostCall &call);
Result<void> lapackGees(const HostCall &call);
Result<void> lapackGehrd(const HostCall &call);
Result<void> lapackSytrd(const HostCall &call);
Result<void> lapackGeqp3(const HostCall &call);
Result<void> lapackGtsv(const HostCall &call);

/// "sinter.expect": whether the first input is what the second holds
/// (check.expect_*). Configuration: "kind" (Expectation::Kind), "tolerance"
/// (the bits of a double), "min_ulp", "max_ulp", "swapped" (what is expected
/// comes first). An output, if there is one, is true.
Result<void> expectation(const HostCall &call);

/// "sinter.probe": tells the run's observer, if it has one, of the input
/// (interpreter.probe). Configuration: its name.
Result<void> probe(const HostCall &call);

/// "sinter.print": the input on standard output. Configuration: its name.
Result<void> print(const HostCall &call);

/// How "sinter.all_reduce" and its like combine what two processes have.
enum class Combination : uint8_t {
  Add,
  Multiply,
  Minimum,
  Maximum,
  And,
  Or,
  Xor
};

/// "sinter.all_gather" and so on (reduce_scatter is an allReduce of parts): the
/// distribution operations of StableHLO by the call's context, a Communicator
/// (without one, the grid has one process). Configuration: "op" (the name in
/// messages), "grouping" and "ids" (or pairs of them; see ProcessGroups.h),
/// "axis" (to join or cut along), "join_axis", "count", "channel", "has_roots"
/// (the last input says which process of a group), "combination", "tells" (the
/// last output says whether there were values, of those that may not be there).
/// Tokens are tensors without elements.
Result<void> allGather(const HostCall &call);
Result<void> allToAll(const HostCall &call);
Result<void> collectiveBroadcast(const HostCall &call);
Result<void> collectivePermute(const HostCall &call);
Result<void> allReduce(const HostCall &call);
Result<void> collectiveReduce(const HostCall &call);
/// "sinter.gather": what all_reduce, reduce_scatter or collective_reduce would
/// combine, kept with the communicator; gives how many processes gave
/// something, for each tensor (1, of zeros, where this process's result is
/// zero). "sinter.gathered": the input says the process, "tensor" which of its
/// tensors.
Result<void> gatherParts(const HostCall &call);
Result<void> gatheredPart(const HostCall &call);
Result<void> replicaId(const HostCall &call);
Result<void> partitionId(const HostCall &call);
Result<void> send(const HostCall &call);
Result<void> receive(const HostCall &call);
Result<void> infeed(const HostCall &call);
Result<void> outfeed(const HostCall &call);

} // namespace sinter::host

#endif // SINTER_RUNTIME_HOST_BUILTIN_H
