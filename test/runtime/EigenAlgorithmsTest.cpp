// Schur forms, eigenvectors and reductions have the properties that define
// them, whatever the matrix.
//
// Covers: runtime/host EigenAlgorithms

#include "runtime/host/EigenAlgorithms.h"

#include <gtest/gtest.h>
#include <random>

using namespace sinter::host;

namespace {

template <typename N> using Matrix = std::vector<N>;

template <typename N> N draw(std::mt19937 &random) {
  std::uniform_real_distribution<double> number(-1, 1);
  if constexpr (std::is_same_v<N, double>)
    return number(random);
  else
    return N(number(random), number(random));
}

/// Matrices of all sorts, told apart by \p seed.
template <typename N> Matrix<N> matrixOf(int64_t n, int seed) {
  std::mt19937 random(seed);
  Matrix<N> a(n * n);
  for (N &x : a)
    x = draw<N>(random);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      N &x = a[i * n + j];
      if (seed % 5 == 1) // a rotation of the axes: eigenvalues on the circle
        x = N(j == (i + 1) % n);
      if (seed % 5 == 2) // one eigenvalue, one vector
        x = N(i == j || j == i + 1);
      if (seed % 5 == 3) // of far sizes
        x *= std::pow(10.0, static_cast<double>(i - j));
      if (seed % 5 == 4 && i > j) // triangular
        x = N(0);
    }
  return a;
}

template <typename N>
Matrix<N> product(const Matrix<N> &a, const Matrix<N> &b, int64_t n) {
  Matrix<N> c(n * n, N(0));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

template <typename N> double largest(const Matrix<N> &a) {
  double most = 0;
  for (const N &x : a)
    most = std::max(most, std::abs(x));
  return most;
}

template <typename N> double distance(const Matrix<N> &a, const Matrix<N> &b) {
  Matrix<N> c = a;
  for (size_t i = 0; i < c.size(); ++i)
    c[i] -= b[i];
  return largest(c);
}

template <typename N> Matrix<N> identity(int64_t n) {
  Matrix<N> a(n * n, N(0));
  for (int64_t i = 0; i < n; ++i)
    a[i * n + i] = N(1);
  return a;
}

template <typename N> struct EigenAlgorithms : testing::Test {
  void forEachMatrix(const std::function<void(const Matrix<N> &, int64_t n,
                                              double tolerance)> &check) {
    for (int64_t n : {1, 2, 3, 4, 7, 12})
      for (int seed = 0; seed < 15; ++seed) {
        SCOPED_TRACE("n = " + std::to_string(n) + ", seed " +
                     std::to_string(seed));
        const Matrix<N> a = matrixOf<N>(n, seed);
        check(a, n, 1e-14 * static_cast<double>(n + 3) * (1 + largest(a)));
      }
  }
  /// That \p form is of \p a.
  void expectSimilar(const Matrix<N> &a, const Similar<N> &form, int64_t n,
                     double tolerance) {
    const Matrix<N> adjoint = adjointOf(form.q, n, n);
    EXPECT_LT(distance(product(form.q, adjoint, n), identity<N>(n)), 1e-13);
    EXPECT_LT(distance(product(product(form.q, form.t, n), adjoint, n), a),
              tolerance);
  }
  Similar<N> schurOf(const Matrix<N> &a, int64_t n) {
    Matrix<N> packed = a;
    const std::vector<N> factors = hessenbergOf(packed, n);
    Similar<N> form = hessenbergParts(packed, factors, n);
    EXPECT_EQ(toSchur(form, n), 0);
    return form;
  }
};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(EigenAlgorithms, Numbers);

TYPED_TEST(EigenAlgorithms, HessenbergFormIsSimilar) {
  using N = TypeParam;
  this->forEachMatrix([&](const Matrix<N> &a, int64_t n, double tolerance) {
    Matrix<N> packed = a;
    const std::vector<N> factors = hessenbergOf(packed, n);
    ASSERT_EQ(factors.size(), static_cast<size_t>(n - 1));
    this->expectSimilar(a, hessenbergParts(packed, factors, n), n, tolerance);
  });
}

TYPED_TEST(EigenAlgorithms, SchurFormIsSimilarAndTriangular) {
  using N = TypeParam;
  this->forEachMatrix([&](const Matrix<N> &a, int64_t n, double tolerance) {
    const Similar<N> form = this->schurOf(a, n);
    this->expectSimilar(a, form, n, tolerance);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) {
        const N below = form.t[i * n + j];
        if (below == N(0))
          continue;
        // A block, of a real matrix alone.
        ASSERT_TRUE((std::is_same_v<N, double>));
        ASSERT_EQ(j, i - 1);
        EXPECT_EQ(form.t[i * n + i], form.t[j * n + j]);
        EXPECT_LT(realPart(below) * realPart(form.t[j * n + i]), 0);
        if (j > 0)
          EXPECT_EQ(form.t[j * n + j - 1], N(0));
      }
  });
}

TYPED_TEST(EigenAlgorithms, EigenvectorsAreStretched) {
  using N = TypeParam;
  this->forEachMatrix([&](const Matrix<N> &a, int64_t n, double tolerance) {
    const Similar<Complex> form = triangular(this->schurOf(a, n), n);
    Matrix<Complex> values(n * n, 0);
    for (int64_t i = 0; i < n; ++i)
      values[i * n + i] = form.t[i * n + i];
    const Matrix<Complex> wide(a.begin(), a.end());
    const auto right = eigenvectorsOf(form, n, /*onTheLeft=*/false);
    EXPECT_LT(distance(product(wide, right, n), product(right, values, n)),
              10 * tolerance);
    const auto left =
        adjointOf(eigenvectorsOf(form, n, /*onTheLeft=*/true), n, n);
    EXPECT_LT(distance(product(left, wide, n), product(values, left, n)),
              10 * tolerance);
    for (int64_t k = 0; k < n; ++k) {
      double length = 0;
      for (int64_t i = 0; i < n; ++i)
        length += std::norm(right[i * n + k]);
      EXPECT_NEAR(length, 1, 1e-12);
    }
  });
}

TYPED_TEST(EigenAlgorithms, PivotsAreTheLongestColumns) {
  using N = TypeParam;
  for (auto [m, n] : {std::pair<int64_t, int64_t>(5, 4), {3, 6}, {4, 4}}) {
    const Matrix<N> square = matrixOf<N>(std::max(m, n), 0);
    const Matrix<N> a(square.begin(), square.begin() + m * n);
    Matrix<N> packed = a;
    std::vector<int32_t> places(n, 0);
    places[2] = 1;
    const std::vector<N> factors = pivotedQrOf(packed, m, n, places);
    EXPECT_EQ(places[0], 3);
    const int64_t k = std::min(m, n);
    const Matrix<N> q =
        householderProduct(leadingColumns(packed, m, n, k), factors, m, k);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        N sum = N(0);
        for (int64_t l = 0; l <= std::min(j, k - 1); ++l)
          sum += q[i * k + l] * packed[l * n + j];
        EXPECT_LT(std::abs(sum - a[i * n + places[j] - 1]), 1e-13);
      }
    for (int64_t i = 2; i < k; ++i)
      EXPECT_LE(std::abs(packed[i * n + i]),
                std::abs(packed[(i - 1) * n + i - 1]) * (1 + 1e-12));
  }
}

/// What is no number ends, too.
TYPED_TEST(EigenAlgorithms, NaNIsNotFound) {
  using N = TypeParam;
  Matrix<N> a = matrixOf<N>(4, 0);
  a[5] = N(std::nan(""));
  const std::vector<N> factors = hessenbergOf(a, 4);
  Similar<N> form = hessenbergParts(a, factors, 4);
  EXPECT_NE(toSchur(form, 4), 0);
  EXPECT_EQ(eigenvectorsOf(triangular(form, 4), 4, false).size(), 16U);
}

} // namespace
