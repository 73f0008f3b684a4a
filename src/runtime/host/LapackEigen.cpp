//===- LapackEigen.cpp - LAPACK's routines about eigenvalues --------------===//
//
// Reductions to simpler forms and what is computed from them, as in Lapack.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/host/EigenAlgorithms.h"
#include "runtime/host/LapackCall.h"

namespace sinter::host {

namespace {

constexpr int64_t vectors = 'V', sorted = 'S';

/// The eigenvalues of a triangular form, in the results from \p first on: the
/// real and the imaginary parts separately if the matrix is real.
void storeEigenvalues(const LapackCall &call, size_t first, int64_t which,
                      const Similar<Complex> &form) {
  const int64_t n = call.rows;
  std::vector<Complex> values(n);
  for (int64_t i = 0; i < n; ++i)
    values[i] = form.t[i * n + i];
  if (isComplex(call.call.inputs[0].type())) {
    call.store(first, which, values);
    return;
  }
  std::vector<double> real, imaginary;
  for (const Complex &value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  call.store(first, which, real);
  call.store(first + 1, which, imaginary);
}

/// Makes the vectors of conjugate eigenvalues of a real matrix conjugate, and
/// those of real ones real, to the last bit.
void makeConjugate(std::vector<Complex> &columns, const Similar<Complex> &form,
                   int64_t n) {
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < n; ++i) {
      const double imaginary = form.t[k * n + k].imag();
      if (imaginary == 0)
        columns[i * n + k] = columns[i * n + k].real();
      else if (imaginary < 0)
        columns[i * n + k] = std::conj(columns[i * n + k - 1]);
    }
}

template <typename N>
Similar<N> schurOf(std::vector<N> a, int64_t n, int64_t &failed) {
  const std::vector<N> factors = hessenbergOf(a, n);
  Similar<N> form = hessenbergParts(a, factors, n);
  failed = toSchur(form, n);
  return form;
}

} // namespace

Result<void> lapackGeev(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (hostCall.inputs.empty())
    return misfit();
  const bool isReal = !isComplex(hostCall.inputs[0].type());
  const size_t left = isReal ? 2 : 1, right = left + 1, info = left + 2;
  if (!call.takes(1, info + 1) || !call.isSquare() ||
      !call.output(0, {call.rows}) || !call.output(left - 1, {call.rows}) ||
      !call.output(left, {call.rows, call.rows}) ||
      !call.output(right, {call.rows, call.rows}) || !call.integers(info, {}))
    return misfit();
  const int64_t n = call.rows;
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    int64_t failed = 0;
    const auto schur = schurOf(call.load<N>(0, which, n * n), n, failed);
    hostCall.outputs[info].set(which, static_cast<int32_t>(failed));
    const Similar<Complex> form = triangular(schur, n);
    storeEigenvalues(call, 0, which, form);
    for (bool onTheLeft : {true, false}) {
      if (call.letter(onTheLeft ? "compute_left" : "compute_right") != vectors)
        continue;
      std::vector<Complex> columns = eigenvectorsOf(form, n, onTheLeft);
      if (isReal)
        makeConjugate(columns, form, n);
      call.store(onTheLeft ? left : right, which, columns);
    }
  });
  return {};
}

Result<void> lapackGees(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (hostCall.inputs.empty())
    return misfit();
  const bool isReal = !isComplex(hostCall.inputs[0].type());
  const size_t chosen = isReal ? 4 : 3, info = chosen + 1;
  if (!call.takes(1, info + 1) || !call.isSquare() ||
      !call.output(0, {call.rows, call.rows}) ||
      !call.output(1, {call.rows, call.rows}) || !call.output(2, {call.rows}) ||
      !call.output(chosen - 1, {call.rows}) || !call.integers(chosen, {}) ||
      !call.integers(info, {}))
    return misfit();
  if (call.letter("sort") == sorted)
    return unsupported("eigenvalues are not sorted by a function");
  const int64_t n = call.rows;
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    int64_t failed = 0;
    const auto schur = schurOf(call.load<N>(0, which, n * n), n, failed);
    hostCall.outputs[info].set(which, static_cast<int32_t>(failed));
    call.store(0, which, schur.t);
    if (call.letter("mode") == vectors)
      call.store(1, which, schur.q);
    storeEigenvalues(call, 2, which, triangular(schur, n));
  });
  return {};
}

Result<void> lapackGehrd(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(1, 3) || !call.isSquare() ||
      !call.output(0, {call.rows, call.rows}) ||
      !call.output(1, {std::max<int64_t>(call.rows - 1, 0)}) ||
      !call.integers(2, {}))
    return misfit();
  const int64_t n = call.rows;
  if (call.configuration.number("low", 1) > 1 ||
      call.configuration.number("high", n) < n)
    return unsupported("parts of matrices are not reduced");
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, n * n);
    call.store(1, which, hessenbergOf(a, n));
    call.store(0, which, a);
  });
  return {};
}

Result<void> lapackSytrd(const HostCall &hostCall) {
  LapackCall call(hostCall);
  const MatrixShape between = {
      hostCall.inputs.empty() || hostCall.inputs[0].rank() == 0
          ? 0
          : std::max<int64_t>(hostCall.inputs[0].shape().back() - 1, 0)};
  if (!call.takes(1, 5) || !call.isSquare() ||
      !call.output(0, {call.rows, call.rows}) || !call.output(1, {call.rows}) ||
      !call.output(2, between) || !call.output(3, between) ||
      !call.integers(4, {}))
    return misfit();
  const int64_t n = call.rows;
  // The upper triangle of a matrix is the lower one of the transposed matrix.
  const bool isUpper = call.letter("uplo") == upper;
  auto turned = [&](int64_t i) { return isUpper ? n - 1 - i : i; };
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, n * n), full(n * n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        const N element = a[turned(i) * n + turned(j)];
        full[j * n + i] = conjugate(element);
        full[i * n + j] = i == j ? N(realPart(element)) : element;
      }
    std::vector<N> factors = hessenbergOf(full, n);
    std::vector<double> diagonal(n), off(factors.size());
    for (int64_t i = 0; i < n; ++i) {
      diagonal[turned(i)] = realPart(full[i * n + i]);
      for (int64_t j = 0; j <= i; ++j)
        a[turned(i) * n + turned(j)] = full[i * n + j];
    }
    for (size_t i = 0; i < off.size(); ++i)
      off[i] = realPart(full[(i + 1) * n + i]);
    if (isUpper) {
      std::ranges::reverse(off);
      std::ranges::reverse(factors);
    }
    call.store(0, which, a);
    call.store(1, which, diagonal);
    call.store(2, which, off);
    call.store(3, which, factors);
  });
  return {};
}

Result<void> lapackGeqp3(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(2, 3) || !call.output(0, {call.rows, call.columns}) ||
      !call.integers(1, {call.columns}) ||
      !call.output(2, {std::min(call.rows, call.columns)}) ||
      !call.fits(hostCall.inputs[1], {call.columns}) ||
      hostCall.inputs[1].type() != ElementType::I32)
    return misfit();
  const int64_t m = call.rows, n = call.columns;
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    std::vector<N> a = call.load<N>(0, which, m * n);
    std::vector<int32_t> places(n);
    for (int64_t j = 0; j < n; ++j)
      places[j] = hostCall.inputs[1].at<int32_t>(which * n + j);
    call.store(2, which, pivotedQrOf(a, m, n, places));
    for (int64_t j = 0; j < n; ++j)
      hostCall.outputs[1].set(which * n + j, places[j]);
    call.store(0, which, a);
  });
  return {};
}

/// Gaussian elimination with pivots, which fill a second superdiagonal.
template <typename N> struct Tridiagonal {
  std::vector<N> below, diagonal, above, b;

  /// 0, or the number of the first pivot that is 0. \p b becomes the solution,
  /// \p below the second diagonal above.
  int64_t solve(int64_t n, int64_t columns) {
    for (int64_t i = 0; i + 1 < n; ++i) {
      N second = N(0);
      if (pivotSize(diagonal[i]) < pivotSize(below[i])) {
        std::swap(diagonal[i], below[i]);
        std::swap(above[i], diagonal[i + 1]);
        if (i + 2 < n)
          std::swap(second, above[i + 1]);
        for (int64_t j = 0; j < columns; ++j)
          std::swap(b[i * columns + j], b[(i + 1) * columns + j]);
      }
      if (diagonal[i] == N(0))
        return i + 1;
      const N factor = below[i] / diagonal[i];
      diagonal[i + 1] -= factor * above[i];
      if (i + 2 < n)
        above[i + 1] -= factor * second;
      for (int64_t j = 0; j < columns; ++j)
        b[(i + 1) * columns + j] -= factor * b[i * columns + j];
      below[i] = second;
    }
    if (n > 0 && diagonal[n - 1] == N(0))
      return n;
    for (int64_t i = n; i-- > 0;)
      for (int64_t j = 0; j < columns; ++j) {
        N sum = b[i * columns + j];
        if (i + 1 < n)
          sum -= above[i] * b[(i + 1) * columns + j];
        if (i + 2 < n)
          sum -= below[i] * b[(i + 2) * columns + j];
        b[i * columns + j] = sum / diagonal[i];
      }
    return 0;
  }
};

Result<void> lapackGtsv(const HostCall &hostCall) {
  LapackCall call(hostCall);
  if (!call.takes(4, 5, /*matrix=*/3) || !call.integers(4, {}) ||
      !call.output(3, {call.rows, call.columns}) ||
      hostCall.inputs[3].type() != hostCall.inputs[0].type())
    return misfit();
  const int64_t n = call.rows, columns = call.columns;
  for (size_t i = 0; i < 3; ++i)
    if (!call.input(i, {n}) || !call.output(i, {n}))
      return misfit();
  forEach(call, [&](auto tag, int64_t which) {
    using N = decltype(tag);
    // Each diagonal has n elements, the lower one starts at the second.
    auto below = call.load<N>(0, which, n);
    std::ranges::rotate(below, below.begin() + 1);
    Tridiagonal<N> system = {below, call.load<N>(1, which, n),
                             call.load<N>(2, which, n),
                             call.load<N>(3, which, n * columns)};
    hostCall.outputs[4].set(which,
                            static_cast<int32_t>(system.solve(n, columns)));
    std::ranges::rotate(system.below, system.below.end() - 1);
    call.store(0, which, system.below);
    call.store(1, which, system.diagonal);
    call.store(2, which, system.above);
    call.store(3, which, system.b);
  });
  return {};
}

} // namespace sinter::host
