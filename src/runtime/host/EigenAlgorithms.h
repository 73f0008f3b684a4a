//===- EigenAlgorithms.h - Hessenberg and Schur forms, eigenvectors -------===//
//
// N is double or std::complex<double>; matrices are row-major. The algorithms
// are those of Golub and van Loan, Matrix Computations, chapter 7, the
// conventions LAPACK's.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_HOST_EIGENALGORITHMS_H
#define SINTER_RUNTIME_HOST_EIGENALGORITHMS_H

#include "runtime/host/MatrixAlgorithms.h"

namespace sinter::host {

using Complex = std::complex<double>;

/// A square matrix and its form t by the unitary q: a = q t q^H.
template <typename N> struct Similar {
  std::vector<N> t, q;
};

/// The upper Hessenberg form: \p a gets it on and above the first subdiagonal,
/// below it the reflections' vectors; returns their factors. (7.4.2)
template <typename N> std::vector<N> hessenbergOf(std::vector<N> &a, int64_t n);

/// The same as separate matrices.
template <typename N>
Similar<N> hessenbergParts(const std::vector<N> &packed,
                           const std::vector<N> &factors, int64_t n);

/// Reduces a Hessenberg form to a Schur form: upper triangular, for real types
/// with blocks of two by two on the diagonal, whose diagonal elements are equal
/// and whose others differ in sign. Returns 0, or the number of the eigenvalue
/// that did not converge. (7.5.2, with LAPACK's form of the blocks)
int64_t toSchur(Similar<double> &form, int64_t n);
int64_t toSchur(Similar<Complex> &form, int64_t n);

/// The triangular Schur form from a real one; of two conjugate eigenvalues the
/// one above the real axis comes first.
Similar<Complex> triangular(const Similar<double> &form, int64_t n);
inline Similar<Complex> triangular(const Similar<Complex> &form, int64_t) {
  return form;
}

/// The eigenvectors of length 1, a column each, whose largest elements are
/// positive: a v = v w, or on the left v^H a = w v^H.
std::vector<Complex> eigenvectorsOf(const Similar<Complex> &form, int64_t n,
                                    bool onTheLeft);

//===----------------------------------------------------------------------===//

template <typename N>
std::vector<N> hessenbergOf(std::vector<N> &a, int64_t n) {
  std::vector<N> factors;
  for (int64_t j = 0; j + 1 < n; ++j) {
    const N factor = reflectionOf(a, n, n, j + 1, j);
    factors.push_back(factor);
    auto vector = [&](int64_t i) { return i == j + 1 ? N(1) : a[i * n + j]; };
    for (int64_t row = 0; row < n; ++row) {
      N sum = N(0);
      for (int64_t k = j + 1; k < n; ++k)
        sum += a[row * n + k] * vector(k);
      sum *= factor;
      for (int64_t k = j + 1; k < n; ++k)
        a[row * n + k] -= sum * conjugate(vector(k));
    }
    for (int64_t column = j + 1; column < n; ++column) {
      N sum = N(0);
      for (int64_t k = j + 1; k < n; ++k)
        sum += conjugate(vector(k)) * a[k * n + column];
      sum *= conjugate(factor);
      for (int64_t k = j + 1; k < n; ++k)
        a[k * n + column] -= vector(k) * sum;
    }
  }
  return factors;
}

template <typename N>
Similar<N> hessenbergParts(const std::vector<N> &packed,
                           const std::vector<N> &factors, int64_t n) {
  Similar<N> form = {packed, std::vector<N>(n * n, N(0))};
  for (int64_t i = 0; i < n; ++i) {
    form.q[i * n + i] = N(1);
    for (int64_t j = 0; j + 1 < i; ++j)
      form.t[i * n + j] = N(0);
  }
  for (auto j = static_cast<int64_t>(factors.size()); j-- > 0;) {
    auto vector = [&](int64_t i) {
      return i == j + 1 ? N(1) : packed[i * n + j];
    };
    for (int64_t column = 0; column < n; ++column) {
      N sum = N(0);
      for (int64_t k = j + 1; k < n; ++k)
        sum += conjugate(vector(k)) * form.q[k * n + column];
      sum *= factors[j];
      for (int64_t k = j + 1; k < n; ++k)
        form.q[k * n + column] -= vector(k) * sum;
    }
  }
  return form;
}

/// R of a p = q r with column pivoting, on and above the diagonal, below it the
/// reflections' vectors; returns their factors. \p places has the original
/// columns (from 1); those given before stay in front. (5.4.1)
template <typename N>
std::vector<N> pivotedQrOf(std::vector<N> &a, int64_t m, int64_t n,
                           std::vector<int32_t> &places) {
  auto swapColumns = [&](int64_t p, int64_t q) {
    for (int64_t i = 0; i < m; ++i)
      std::swap(a[i * n + p], a[i * n + q]);
    std::swap(places[p], places[q]);
  };
  int64_t fixed = 0;
  const std::vector<int32_t> wanted = places;
  std::iota(places.begin(), places.end(), 1);
  for (int64_t j = 0; j < n; ++j)
    if (wanted[j] != 0)
      swapColumns(fixed++, j);
  std::vector<N> factors;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    auto lengthBelow = [&](int64_t column) {
      double length = 0;
      for (int64_t i = j; i < m; ++i)
        length += std::norm(a[i * n + column]);
      return length;
    };
    if (j >= fixed) {
      int64_t best = j;
      double most = lengthBelow(j);
      for (int64_t column = j + 1; column < n; ++column)
        if (const double length = lengthBelow(column); length > most) {
          best = column;
          most = length;
        }
      if (best != j)
        swapColumns(j, best);
    }
    factors.push_back(eliminate(a, m, n, j));
  }
  return factors;
}

} // namespace sinter::host

#endif // SINTER_RUNTIME_HOST_EIGENALGORITHMS_H
