//===- Builtin.h - built-in host functions --------------------------------===//

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

/// "sinter.rng": the next values of the run's random stream. Configuration:
/// "distribution" (1 uniform, 2 normal).
Result<void> rng(const HostCall &call);

/// "sinter.non_zero": the indices of the non-zero elements of the first input,
/// flags, in row-major order: [rank, count] of i64. The second input is the
/// number that the output has room for; another number is a System error.
Result<void> nonZero(const HostCall &call);

/// Rows that a loop collects in a list of the run ("list" of the
/// configuration): "sinter.begin_rows" empties it, "sinter.add_rows" appends
/// those of the input, "sinter.count_rows" returns their number (i64),
/// "sinter.take_rows" moves them to the output (the inputs are its sizes);
/// another number of rows is a System error.
Result<void> beginRows(const HostCall &call);
Result<void> addRows(const HostCall &call);
Result<void> countRows(const HostCall &call);
Result<void> takeRows(const HostCall &call);

/// Nested programs. "call" of the configuration is the index in the run under
/// which results are stored until they are taken.
///
/// "sinter.run_loop" runs program "condition", which returns one boolean, on
/// its inputs, and while that is true program "body", whose results replace the
/// first inputs.
/// "sinter.run_branch" runs one of "count" programs, from index "first" on,
/// which the first input selects: a boolean selects the first program if it is
/// true, else the second; an i32 is an index, and one out of range selects the
/// last. The other inputs are the program's.
/// "sinter.nested_size" returns the size (i64) of dimension "dimension" of
/// result "result", and "sinter.take_nested" the result, whose inputs are its
/// sizes.
Result<void> runLoop(const HostCall &call);
Result<void> runBranch(const HostCall &call);
Result<void> nestedSize(const HostCall &call);
Result<void> takeNested(const HostCall &call);

/// "sinter.suppress": nn.non_max_suppression of boxes, scores, the maximum
/// number of boxes per class, the overlap and optionally the threshold. Stores
/// its rows in list "list" of the run. Configuration: "centred", too.
Result<void> suppress(const HostCall &call);

/// Functions on strings (StringFunctions.h), whose tensors hold handles
/// (Strings.h); inputs behind those below are sizes of the outputs.
/// "sinter.strings" makes a constant; the configuration is "3:abc" for each
/// string. "sinter.format_numbers", "sinter.parse_numbers",
/// "sinter.concat_strings" of two inputs, "sinter.change_case"
/// ("upper;LOCALE"), "sinter.match_strings" (the pattern),
/// "sinter.rank_strings", "sinter.find_strings" of strings and keys.
/// "sinter.count_parts" returns the number of parts of each string and the
/// largest of these, "sinter.split_strings" the parts ("MOST;DELIMITER").
/// "sinter.probe_strings" and "sinter.print_strings" are "sinter.probe" and
/// "sinter.print".
Result<void> strings(const HostCall &call);
Result<void> formatted(const HostCall &call);
Result<void> parsed(const HostCall &call);
Result<void> concatenated(const HostCall &call);
Result<void> caseChanged(const HostCall &call);
Result<void> matched(const HostCall &call);
Result<void> ranked(const HostCall &call);
Result<void> found(const HostCall &call);
Result<void> partsCounted(const HostCall &call);
Result<void> stringsSplit(const HostCall &call);
Result<void> stringsProbed(const HostCall &call);
Result<void> stringsPrinted(const HostCall &call);

/// "sinter.decode_image": decodes an image file, the input, stores its rows of
/// pixels in list "list" of the run, and returns its height and width (i64).
/// Configuration: "format" (ImageChannels), too.
Result<void> decodeImage(const HostCall &call);

/// "lapack_spotrf_ffi" and so on, as JAX calls them from programs for CPUs: the
/// LAPACK routines of these names on stacks of matrices. Configuration: their
/// options by name, letters as integers ("uplo=76").
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

/// "sinter.expect": whether the first input matches the second
/// (check.expect_*). Configuration: "kind" (Expectation::Kind), "tolerance"
/// (the bits of a double), "min_ulp", "max_ulp", "swapped" (the expected one
/// comes first). An output, if there is one, is true.
Result<void> expectation(const HostCall &call);

/// "sinter.probe": passes the input to the run's observer, if it has one
/// (interpreter.probe). Configuration: its name.
Result<void> probe(const HostCall &call);

/// "sinter.print": passes the input as text to the run's printer.
/// Configuration: its name.
Result<void> print(const HostCall &call);

/// The operation with which "sinter.all_reduce" and its like combine two
/// values.
enum class Combination : uint8_t {
  Add,
  Multiply,
  Minimum,
  Maximum,
  And,
  Or,
  Xor
};

/// "sinter.all_gather" and so on (reduce_scatter is an all_reduce of slices):
/// the collectives of StableHLO on the call's context, a Communicator (without
/// one, there is one process). Configuration: "op" (the name in messages),
/// "grouping" and "ids" (or pairs of them; see ProcessGroups.h), "axis" (to
/// concatenate or split along), "join_axis", "count", "channel", "has_roots"
/// (the last input is the index of a process in its group), "combination",
/// "tells" (the last output is whether there were values, which are optional).
/// Tokens are tensors without elements.
Result<void> allGather(const HostCall &call);
Result<void> allToAll(const HostCall &call);
Result<void> collectiveBroadcast(const HostCall &call);
Result<void> collectivePermute(const HostCall &call);
Result<void> allReduce(const HostCall &call);
Result<void> collectiveReduce(const HostCall &call);
/// "sinter.gather": the operands of all_reduce, reduce_scatter or
/// collective_reduce, stored with the communicator; returns the number of
/// processes that contributed, for each tensor (1, of zeros, if this process's
/// result is zero). "sinter.gathered": the input is the process, "tensor" the
/// index of its tensor.
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
