//===- Lapack.cpp - factorisations that JAX calls LAPACK for --------------===//
//
// Operands, results and conventions (packed factors, pivots from 1, Householder
// vectors with an implied 1) are those of the LAPACK routines of the same
// names, on stacks of matrices. Computed in f64.
//
//===----------------------------------------------------------------------===//

#include "runtime/host/LapackCall.h"
#include "runtime/host/MatrixAlgorithms.h"

namespace sinter::host {

namespace {
constexpr int64_t unit = 'U', onTheRight = 'R', notTransposed = 'N',
                  conjugateTransposed = 'C', valuesOnly = 'N', allVectors = 'A';
} // namespace

Result<void> lapackPotrf(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(1, 2) || !call.isSquare() ||
      !call.output(0, {call.rows, call.rows}) || !call.integers(1, {}))
    return misfit();
  const int64_t n = call.rows;
  const bool isUpper = call.letter("uplo") == upper;
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, n * n);
    hostCall.outputs[1].set(which,
                            static_cast<int32_t>(choleskyOf(a, n, isUpper)));
    call.store(0, which, a);
  });
  return {};
}

Result<void> lapackGetrf(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(1, 3) || !call.output(0, {call.rows, call.columns}) ||
      !call.integers(1, {std::min(call.rows, call.columns)}) ||
      !call.integers(2, {}))
    return misfit();
  const int64_t m = call.rows, n = call.columns, k = std::min(m, n);
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, m * n);
    std::vector<int32_t> pivots;
    hostCall.outputs[2].set(which, static_cast<int32_t>(luOf(a, m, n, pivots)));
    for (int64_t i = 0; i < k; ++i)
      hostCall.outputs[1].set(which * k + i, pivots[i]);
    call.store(0, which, a);
  });
  return {};
}

Result<void> lapackGeqrf(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(1, 2) || !call.output(0, {call.rows, call.columns}) ||
      !call.output(1, {std::min(call.rows, call.columns)}))
    return misfit();
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, call.rows * call.columns);
    call.store(1, which, qrOf(a, call.rows, call.columns));
    call.store(0, which, a);
  });
  return {};
}

Result<void> lapackOrgqr(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(2, 1) || !call.output(0, {call.rows, call.columns}) ||
      hostCall.inputs[1].rank() == 0)
    return misfit();
  const int64_t k = hostCall.inputs[1].shape().back();
  if (!call.input(1, {k}) || k > call.columns || call.columns > call.rows)
    return misfit();
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    const auto a = call.load<N>(0, which, call.rows * call.columns);
    call.store(0, which,
               householderProduct(a, call.load<N>(1, which, k), call.rows,
                                  call.columns));
  });
  return {};
}

Result<void> lapackSyevd(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(1, 3) || !call.isSquare() ||
      !call.output(0, {call.rows, call.rows}) || !call.output(1, {call.rows}) ||
      !call.integers(2, {}))
    return misfit();
  const int64_t n = call.rows;
  const bool isUpper = call.letter("uplo") == upper;
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, n * n);
    call.store(1, which, eigenOf(a, n, isUpper));
    call.store(0, which, a);
  });
  return {};
}

Result<void> lapackGesdd(const HostCall &hostCall) {
  LapackCall call(hostCall);
  const int64_t mode = call.letter("mode");
  if (!call.takes(1, 5))
    return misfit();
  const int64_t m = call.rows, n = call.columns, k = std::min(m, n);
  const int64_t left = mode == allVectors ? m : k,
                right = mode == allVectors ? n : k;
  if (!call.output(0, {m, n}) || !call.output(1, {k}) || !call.integers(4, {}))
    return misfit();
  if (mode != valuesOnly &&
      (!call.output(2, {m, left}) || !call.output(3, {right, n})))
    return misfit();
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    const std::vector<N> a = call.load<N>(0, which, m * n);
    call.store(0, which, a);
    const Svd<N> svd = svdOf(a, m, n);
    call.store(1, which, svd.values);
    if (mode == valuesOnly)
      return;
    call.store(2, which, leadingColumns(svd.u, m, m, left));
    std::vector<N> vectors = adjointOf(svd.v, n, n);
    vectors.resize(right * n);
    call.store(3, which, vectors);
  });
  return {};
}

Result<void> lapackTrsm(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(2, 1) || !call.isSquare() || hostCall.inputs[1].rank() < 2 ||
      stackOf(hostCall.inputs[1], 2) != call.stack ||
      hostCall.inputs[1].type() != hostCall.inputs[0].type() ||
      hostCall.outputs[0].shape() != hostCall.inputs[1].shape())
    return misfit();
  const Tensor &b = hostCall.inputs[1];
  const bool isRight = call.letter("side") == onTheRight;
  if (b.dim(b.rank() - (isRight ? 1 : 2)) != call.rows)
    return misfit();
  const int64_t transposition = call.letter("trans_x");
  const std::string text =
      "left_side=" + std::to_string(!isRight) +
      ";lower=" + std::to_string(call.letter("uplo") != upper) +
      ";unit_diagonal=" + std::to_string(call.letter("diag") == unit) +
      ";transpose=" +
      std::to_string(transposition == notTransposed         ? 0
                     : transposition == conjugateTransposed ? 2
                                                            : 1);
  HostCall solve = {text, hostCall.inputs.first(2), hostCall.outputs.first(1),
                    hostCall.random, hostCall.context};
  return triangularSolve(solve);
}

} // namespace sinter::host
