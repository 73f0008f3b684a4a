//===- MatrixAlgorithms.h - factors of one matrix, row by row -------------===//
//
// N is double or std::complex<double>; matrices are row-major.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_HOST_MATRIXALGORITHMS_H
#define SINTER_RUNTIME_HOST_MATRIXALGORITHMS_H

#include "runtime/host/Matrices.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace sinter::host {

inline double realPart(double x) { return x; }
inline double realPart(std::complex<double> x) { return x.real(); }

template <typename N>
std::vector<N> adjointOf(const std::vector<N> &a, int64_t rows,
                         int64_t columns) {
  std::vector<N> result(a.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = conjugate(a[i * columns + j]);
  return result;
}

template <typename N>
std::vector<N> leadingColumns(const std::vector<N> &a, int64_t rows,
                              int64_t columns, int64_t kept) {
  std::vector<N> result;
  for (int64_t i = 0; i < rows; ++i)
    result.insert(result.end(), a.begin() + i * columns,
                  a.begin() + i * columns + kept);
  return result;
}

/// Replaces the triangle of \p a that is read by its factor, L of L L^H or U of
/// U^H U; the other stays. Returns 0, or the number of the first leading minor
/// that is not positive.
template <typename N>
int64_t choleskyOf(std::vector<N> &a, int64_t n, bool isUpper) {
  auto at = [&](int64_t i, int64_t j) -> N & {
    return isUpper ? a[j * n + i] : a[i * n + j];
  };
  for (int64_t j = 0; j < n; ++j) {
    double pivot = realPart(at(j, j));
    for (int64_t k = 0; k < j; ++k)
      pivot -= std::norm(at(j, k));
    if (!(pivot > 0))
      return j + 1;
    pivot = std::sqrt(pivot);
    at(j, j) = N(pivot);
    for (int64_t i = j + 1; i < n; ++i) {
      N sum = at(i, j);
      for (int64_t k = 0; k < j; ++k)
        sum -= at(i, k) * conjugate(at(j, k));
      at(i, j) = sum / pivot;
    }
  }
  return 0;
}

inline double pivotSize(double x) { return std::abs(x); }
inline double pivotSize(std::complex<double> x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

/// LU with pivoting: L without its unit diagonal and U, of rows in the order of
/// the pivots (from 1). Returns 0, or the number of the first zero pivot.
template <typename N>
int64_t luOf(std::vector<N> &a, int64_t m, int64_t n,
             std::vector<int32_t> &pivots) {
  int64_t singular = 0;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < m; ++i)
      if (pivotSize(a[i * n + j]) > pivotSize(a[best * n + j]))
        best = i;
    pivots.push_back(static_cast<int32_t>(best + 1));
    if (a[best * n + j] == N(0)) {
      singular = singular ? singular : j + 1;
      continue;
    }
    if (best != j)
      std::swap_ranges(a.begin() + j * n, a.begin() + (j + 1) * n,
                       a.begin() + best * n);
    for (int64_t i = j + 1; i < m; ++i) {
      const N factor = a[i * n + j] /= a[j * n + j];
      for (int64_t k = j + 1; k < n; ++k)
        a[i * n + k] -= factor * a[j * n + k];
    }
  }
  return singular;
}

/// Applies (I - factor v v^H) from the left to the columns from \p first on,
/// where v is 1 and then column \p place of \p vectors below row \p place.
template <typename N>
void reflect(std::vector<N> &a, int64_t m, int64_t n, int64_t first,
             const std::vector<N> &vectors, int64_t width, int64_t place,
             N factor) {
  for (int64_t k = first; k < n; ++k) {
    N sum = a[place * n + k];
    for (int64_t i = place + 1; i < m; ++i)
      sum += conjugate(vectors[i * width + place]) * a[i * n + k];
    sum *= factor;
    a[place * n + k] -= sum;
    for (int64_t i = place + 1; i < m; ++i)
      a[i * n + k] -= vectors[i * width + place] * sum;
  }
}

/// The factor of the reflection that makes column \p j zero below row \p i; row
/// i gets the remaining value, the rows below it the vector, whose first
/// element is 1. (Golub and van Loan, 5.1; LAPACK's signs.)
template <typename N>
N reflectionOf(std::vector<N> &a, int64_t m, int64_t n, int64_t i, int64_t j) {
  const N alpha = a[i * n + j];
  double rest = 0;
  for (int64_t k = i + 1; k < m; ++k)
    rest += std::norm(a[k * n + j]);
  if (rest == 0 && alpha == N(realPart(alpha)))
    return N(0);
  const double beta =
      -std::copysign(std::sqrt(std::norm(alpha) + rest), realPart(alpha));
  for (int64_t k = i + 1; k < m; ++k)
    a[k * n + j] /= alpha - N(beta);
  a[i * n + j] = N(beta);
  return (N(beta) - alpha) / N(beta);
}

/// Reflects column \p j so that it is zero below the diagonal, and the columns
/// after it; the vector is stored in the zeros. Returns its factor.
template <typename N>
N eliminate(std::vector<N> &a, int64_t m, int64_t n, int64_t j) {
  const N factor = reflectionOf(a, m, n, j, j);
  const std::vector<N> vectors = a;
  if (factor != N(0))
    reflect(a, m, n, j + 1, vectors, n, j, conjugate(factor));
  return factor;
}

/// R on and above the diagonal, below it the reflections' vectors; returns
/// their factors.
template <typename N>
std::vector<N> qrOf(std::vector<N> &a, int64_t m, int64_t n) {
  std::vector<N> factors;
  for (int64_t j = 0; j < std::min(m, n); ++j)
    factors.push_back(eliminate(a, m, n, j));
  return factors;
}

/// The first columns of the product of the reflections of qrOf().
template <typename N>
std::vector<N> householderProduct(const std::vector<N> &vectors,
                                  const std::vector<N> &factors, int64_t m,
                                  int64_t n) {
  std::vector<N> q(m * n, N(0));
  for (int64_t i = 0; i < n; ++i)
    q[i * n + i] = N(1);
  for (auto j = static_cast<int64_t>(factors.size()); j-- > 0;)
    reflect(q, m, n, j, vectors, n, j, factors[j]);
  return q;
}

/// Rotates columns p and q of \p a (rows x columns) by the rotation (c, s) with
/// the phase \p phase.
template <typename N>
void rotateColumns(std::vector<N> &a, int64_t rows, int64_t columns, int64_t p,
                   int64_t q, double c, double s, N phase) {
  for (int64_t i = 0; i < rows; ++i) {
    N &x = a[i * columns + p], &y = a[i * columns + q];
    const N left = x, rightTurned = y * conjugate(phase);
    x = c * left - s * rightTurned;
    y = s * left + c * rightTurned;
  }
}

/// Singular values, the largest first, and all vectors: a = u diag(values) v^H.
template <typename N> struct Svd {
  std::vector<double> values;
  std::vector<N> u, v;
};

/// Completes an orthogonal matrix from column \p known on.
template <typename N>
void completeBasis(std::vector<N> &u, int64_t m, int64_t known) {
  int64_t next = known;
  for (int64_t candidate = 0; candidate < m && next < m; ++candidate) {
    std::vector<N> column(m, N(0));
    column[candidate] = N(1);
    // Twice is enough (Kahan).
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t k = 0; k < next; ++k) {
        N dot = N(0);
        for (int64_t i = 0; i < m; ++i)
          dot += conjugate(u[i * m + k]) * column[i];
        for (int64_t i = 0; i < m; ++i)
          column[i] -= dot * u[i * m + k];
      }
    double length = 0;
    for (const N &x : column)
      length += std::norm(x);
    length = std::sqrt(length);
    if (!(length > 0.5 / std::sqrt(static_cast<double>(m))))
      continue;
    for (int64_t i = 0; i < m; ++i)
      u[i * m + next] = column[i] / length;
    ++next;
  }
}

/// One-sided Jacobi (Hestenes): rotates columns until they are orthogonal.
template <typename N>
Svd<N> svdOf(const std::vector<N> &a, int64_t m, int64_t n) {
  if (m < n) {
    Svd<N> turned = svdOf(adjointOf(a, m, n), n, m);
    std::swap(turned.u, turned.v);
    return turned;
  }
  std::vector<N> work = a, v(n * n, N(0));
  for (int64_t i = 0; i < n; ++i)
    v[i * n + i] = N(1);
  constexpr int mostSweeps = 60;
  bool isOrthogonal = false;
  for (int sweep = 0; sweep < mostSweeps && !isOrthogonal; ++sweep) {
    isOrthogonal = true;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double pp = 0, qq = 0;
        N pq = N(0);
        for (int64_t i = 0; i < m; ++i) {
          pp += std::norm(work[i * n + p]);
          qq += std::norm(work[i * n + q]);
          pq += conjugate(work[i * n + p]) * work[i * n + q];
        }
        const double size = std::abs(pq);
        if (!(size > 1e-15 * std::sqrt(pp * qq)) || size == 0)
          continue;
        isOrthogonal = false;
        const double zeta = (qq - pp) / (2 * size);
        const double t = std::copysign(1.0, zeta) /
                         (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t);
        rotateColumns(work, m, n, p, q, c, c * t, pq / size);
        rotateColumns(v, n, n, p, q, c, c * t, pq / size);
      }
  }
  std::vector<double> lengths(n, 0);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i)
      lengths[j] += std::norm(work[i * n + j]);
    lengths[j] = std::sqrt(lengths[j]);
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](int64_t x, int64_t y) { return lengths[x] > lengths[y]; });
  Svd<N> svd;
  svd.u.assign(m * m, N(0));
  svd.v.assign(n * n, N(0));
  const double least = n ? lengths[order[0]] * 1e-300 : 0;
  int64_t known = 0;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[j];
    svd.values.push_back(lengths[from]);
    for (int64_t i = 0; i < n; ++i)
      svd.v[i * n + j] = v[i * n + from];
    if (!(lengths[from] > least))
      continue;
    for (int64_t i = 0; i < m; ++i)
      svd.u[i * m + j] = work[i * n + from] / lengths[from];
    known = j + 1;
  }
  completeBasis(svd.u, m, known);
  return svd;
}

/// Eigenvalues of the Hermitian matrix of which one triangle is read, the least
/// first; \p a becomes the eigenvectors, a column each. Cyclic Jacobi.
template <typename N>
std::vector<double> eigenOf(std::vector<N> &a, int64_t n, bool isUpper) {
  for (int64_t i = 0; i < n; ++i) {
    a[i * n + i] = N(realPart(a[i * n + i]));
    for (int64_t j = 0; j < i; ++j)
      if (isUpper)
        a[i * n + j] = conjugate(a[j * n + i]);
      else
        a[j * n + i] = conjugate(a[i * n + j]);
  }
  std::vector<N> v(n * n, N(0));
  for (int64_t i = 0; i < n; ++i)
    v[i * n + i] = N(1);
  double total = 0;
  for (const N &x : a)
    total += std::norm(x);
  constexpr int mostSweeps = 60;
  for (int sweep = 0; sweep < mostSweeps; ++sweep) {
    double off = 0;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        off += std::norm(a[p * n + q]);
    if (!(off > 1e-32 * total))
      break;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        const N pq = a[p * n + q];
        const double size = std::abs(pq);
        if (size == 0)
          continue;
        const double zeta =
            (realPart(a[q * n + q]) - realPart(a[p * n + p])) / (2 * size);
        const double t = std::copysign(1.0, zeta) /
                         (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        const N phase = pq / size;
        rotateColumns(a, n, n, p, q, c, s, phase);
        // The same from the left, conjugated.
        for (int64_t k = 0; k < n; ++k) {
          N &x = a[p * n + k], &y = a[q * n + k];
          const N above = x, below = y * phase;
          x = c * above - s * below;
          y = s * above + c * below;
        }
        rotateColumns(v, n, n, p, q, c, s, phase);
      }
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t x, int64_t y) {
    return realPart(a[x * n + x]) < realPart(a[y * n + y]);
  });
  std::vector<double> values;
  std::vector<N> sorted(n * n);
  for (int64_t j = 0; j < n; ++j) {
    values.push_back(realPart(a[order[j] * n + order[j]]));
    for (int64_t i = 0; i < n; ++i)
      sorted[i * n + j] = v[i * n + order[j]];
  }
  a = std::move(sorted);
  return values;
}

} // namespace sinter::host

#endif // SINTER_RUNTIME_HOST_MATRIXALGORITHMS_H
