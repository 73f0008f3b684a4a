//===- Matrices.cpp - factors and solutions of matrices -------------------===//

#include "runtime/host/Matrices.h"
#include "runtime/host/Builtin.h"
#include "runtime/host/MatrixAlgorithms.h"

#include <cmath>

namespace sinter::host {

namespace {

/// L of A = L L^H, in place of A's lower triangle (row by row, Banachiewicz).
template <typename N> void factorize(std::vector<N> &a, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      N sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k)
        sum -= a[i * n + k] * conjugate(a[j * n + k]);
      if (i != j)
        a[i * n + j] = sum / a[j * n + j];
      else
        a[i * n + j] = N(std::sqrt(std::real(sum)));
    }
}

/// How stablehlo.triangular_solve uses its matrix.
struct Triangle {
  int64_t n = 0;
  bool isLower = true, hasUnitDiagonal = false, isTransposed = false,
       isConjugated = false;

  /// Element (i, j) of op(a).
  template <typename N>
  N at(const std::vector<N> &a, int64_t i, int64_t j) const {
    if (i == j && hasUnitDiagonal)
      return N(1);
    const N value = isTransposed ? a[j * n + i] : a[i * n + j];
    return isConjugated ? conjugate(value) : value;
  }
  /// Whether op(a) is lower triangular.
  bool solvesForward() const { return isLower != isTransposed; }
};

/// Solves op(a) x = b for one column of b: \p count elements \p stride apart.
template <typename N>
void solveColumn(const Triangle &triangle, const std::vector<N> &a, N *b,
                 int64_t stride) {
  const int64_t n = triangle.n;
  for (int64_t step = 0; step < n; ++step) {
    const bool isForward = triangle.solvesForward();
    const int64_t i = isForward ? step : n - 1 - step;
    N sum = b[i * stride];
    const int64_t begin = isForward ? 0 : i + 1, end = isForward ? i : n;
    for (int64_t k = begin; k < end; ++k)
      sum -= triangle.at(a, i, k) * b[k * stride];
    b[i * stride] = triangle.hasUnitDiagonal ? sum : sum / triangle.at(a, i, i);
  }
}

} // namespace

Result<void> cholesky(const HostCall &call) {
  const Tensor &input = call.inputs[0];
  const int64_t n = input.dim(input.rank() - 1), size = n * n;
  const bool isLower = HostConfiguration(call.configuration).number("lower");
  if (size == 0)
    return {};
  inWideNumbers(input.type(), [&](auto tag) {
    using N = typename decltype(tag)::type;
    for (int64_t begin = 0; begin < input.size(); begin += size) {
      std::vector<N> matrix = load<N>(input, begin, size);
      // The upper triangle's factor is the adjoint of the lower one's.
      if (!isLower)
        matrix = adjointOf(matrix, n, n);
      factorize(matrix, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j)
          matrix[i * n + j] = N(0);
      store(call.outputs[0], begin, isLower ? matrix : adjointOf(matrix, n, n));
    }
  });
  return {};
}

Result<void> triangularSolve(const HostCall &call) {
  const Tensor &a = call.inputs[0], &b = call.inputs[1];
  const HostConfiguration configuration(call.configuration);
  const bool isLeft = configuration.number("left_side");
  const int64_t transpose = configuration.number("transpose");
  Triangle triangle;
  triangle.n = a.dim(a.rank() - 1);
  triangle.isLower = configuration.number("lower");
  triangle.hasUnitDiagonal = configuration.number("unit_diagonal");
  triangle.isTransposed = transpose != 0;
  triangle.isConjugated = transpose == 2;
  // x op(a) = b is op(a)^T x^T = b^T.
  if (!isLeft)
    triangle.isTransposed = !triangle.isTransposed;
  const int64_t rows = b.dim(b.rank() - 2), columns = b.dim(b.rank() - 1);
  const int64_t aSize = triangle.n * triangle.n, bSize = rows * columns;
  if (bSize == 0)
    return {};
  inWideNumbers(b.type(), [&](auto tag) {
    using N = typename decltype(tag)::type;
    for (int64_t i = 0; i < b.size() / bSize; ++i) {
      const std::vector<N> matrix = load<N>(a, i * aSize, aSize);
      std::vector<N> x = load<N>(b, i * bSize, bSize);
      for (int64_t j = 0; j < (isLeft ? columns : rows); ++j)
        solveColumn(triangle, matrix, x.data() + (isLeft ? j : j * columns),
                    isLeft ? columns : 1);
      store(call.outputs[0], i * bSize, x);
    }
  });
  return {};
}

} // namespace sinter::host
