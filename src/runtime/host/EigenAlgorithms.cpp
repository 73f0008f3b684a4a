//===- EigenAlgorithms.cpp - Schur forms and eigenvectors -----------------===//

#include "runtime/host/EigenAlgorithms.h"

#include <array>
#include <limits>

namespace sinter::host {

namespace {

constexpr double precision = std::numeric_limits<double>::epsilon();
/// Iterations per eigenvalue; most take two or three.
constexpr int mostSteps = 90;
/// After this many iterations without convergence, another shift.
constexpr int patience = 10;

double sizeOf(double x) { return std::abs(x); }
double sizeOf(Complex x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// The first row of the unreduced block that ends with row \p last; clears the
/// element that separates it.
template <typename N>
int64_t beginOfBlock(std::vector<N> &t, int64_t n, int64_t last) {
  for (int64_t row = last; row > 0; --row) {
    const double around =
        sizeOf(t[row * n + row]) + sizeOf(t[(row - 1) * n + row - 1]);
    N &below = t[row * n + row - 1];
    if (sizeOf(below) <= precision * around ||
        sizeOf(below) < std::numeric_limits<double>::min()) {
      below = N(0);
      return row;
    }
  }
  return 0;
}

/// Applies the unitary matrix of the columns (c, s) and (-conj(s), conj(c)) to
/// rows and columns \p k and k + 1.
template <typename N>
void turn(Similar<N> &form, int64_t n, int64_t k, N c, N s) {
  for (int64_t j = 0; j < n; ++j) {
    N &x = form.t[k * n + j], &y = form.t[(k + 1) * n + j];
    const N above = x, below = y;
    x = conjugate(c) * above + conjugate(s) * below;
    y = c * below - s * above;
  }
  for (std::vector<N> *matrix : {&form.t, &form.q})
    for (int64_t i = 0; i < n; ++i) {
      N &x = (*matrix)[i * n + k], &y = (*matrix)[i * n + k + 1];
      const N left = x, right = y;
      x = c * left + s * right;
      y = conjugate(c) * right - conjugate(s) * left;
    }
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

/// The eigenvalue of the last two rows and columns that is closer to the last
/// element (Wilkinson).
Complex shiftOf(const std::vector<Complex> &t, int64_t n, int64_t last) {
  const Complex a = t[(last - 1) * n + last - 1], b = t[(last - 1) * n + last],
                c = t[last * n + last - 1], d = t[last * n + last];
  const Complex half = (a - d) / 2.0, product = b * c;
  Complex root = std::sqrt(half * half + product);
  if ((half * std::conj(root)).real() < 0)
    root = -root;
  const Complex far = half + root;
  return far == Complex(0) ? d : d - product / far;
}

/// One QR step on rows [first, last]: t - shift = q r, and r q + shift.
void qrStep(Similar<Complex> &form, int64_t n, int64_t first, int64_t last,
            Complex shift) {
  std::vector<Complex> &t = form.t;
  for (int64_t i = first; i <= last; ++i)
    t[i * n + i] -= shift;
  std::vector<std::pair<Complex, Complex>> turns;
  for (int64_t k = first; k < last; ++k) {
    const Complex x = t[k * n + k], y = t[(k + 1) * n + k];
    const double length = std::hypot(std::abs(x), std::abs(y));
    const Complex c = length == 0 ? Complex(1) : x / length,
                  s = length == 0 ? Complex(0) : y / length;
    for (int64_t j = k; j < n; ++j) {
      Complex &above = t[k * n + j], &below = t[(k + 1) * n + j];
      const Complex was = above;
      above = std::conj(c) * was + std::conj(s) * below;
      below = c * below - s * was;
    }
    t[(k + 1) * n + k] = 0;
    turns.push_back({c, s});
  }
  for (int64_t k = first; k < last; ++k) {
    const auto [c, s] = turns[k - first];
    auto turnColumns = [&, c = c, s = s](std::vector<Complex> &matrix,
                                         int64_t rows) {
      for (int64_t i = 0; i < rows; ++i) {
        Complex &left = matrix[i * n + k], &right = matrix[i * n + k + 1];
        const Complex was = left;
        left = c * was + s * right;
        right = std::conj(c) * right - std::conj(s) * was;
      }
    };
    turnColumns(t, k + 2);
    turnColumns(form.q, n);
  }
  for (int64_t i = first; i <= last; ++i)
    t[i * n + i] += shift;
}

//===----------------------------------------------------------------------===//
// Real numbers
//===----------------------------------------------------------------------===//

/// Reflects the rows and columns from \p k on so that \p vector becomes a
/// multiple of the first unit vector; rows up to \p last are not zero in them.
template <size_t size>
void reflectBlock(Similar<double> &form, int64_t n, int64_t k, int64_t last,
                  std::array<double, size> vector) {
  double length = 0;
  for (double x : vector)
    length = std::hypot(length, x);
  if (length == 0)
    return;
  vector[0] += std::copysign(length, vector[0]);
  double square = 0;
  for (double x : vector)
    square += x * x;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (size_t i = 0; i < size; ++i)
      sum += vector[i] * form.t[(k + i) * n + j];
    sum *= 2 / square;
    for (size_t i = 0; i < size; ++i)
      form.t[(k + i) * n + j] -= sum * vector[i];
  }
  auto reflectColumns = [&](std::vector<double> &matrix, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (size_t i = 0; i < size; ++i)
        sum += matrix[row * n + k + i] * vector[i];
      sum *= 2 / square;
      for (size_t i = 0; i < size; ++i)
        matrix[row * n + k + i] -= sum * vector[i];
    }
  };
  reflectColumns(form.t, std::min<int64_t>(k + size, last) + 1);
  reflectColumns(form.q, n);
}

/// Francis's step with two shifts, of sum \p sum and product \p product, on
/// rows [first, last], which are three or more. (7.5.1)
void francisStep(Similar<double> &form, int64_t n, int64_t first, int64_t last,
                 double sum, double product) {
  auto t = [&](int64_t i, int64_t j) -> double & { return form.t[i * n + j]; };
  double x = t(first, first) * t(first, first) +
             t(first, first + 1) * t(first + 1, first) - sum * t(first, first) +
             product;
  double y =
      t(first + 1, first) * (t(first, first) + t(first + 1, first + 1) - sum);
  double z = t(first + 1, first) * t(first + 2, first + 1);
  for (int64_t k = first; k + 2 <= last; ++k) {
    reflectBlock<3>(form, n, k, last, {x, y, z});
    if (k > first)
      t(k + 1, k - 1) = t(k + 2, k - 1) = 0;
    x = t(k + 1, k);
    y = t(k + 2, k);
    z = k + 3 <= last ? t(k + 3, k) : 0;
  }
  reflectBlock<2>(form, n, last - 1, last, {x, y});
  t(last, last - 2) = 0;
}

/// Rotates rows \p k and k + 1, a block of their own, so that it is triangular
/// if its eigenvalues are real, and else has equal elements on the diagonal.
void standardise(Similar<double> &form, int64_t n, int64_t k) {
  auto t = [&](int64_t i, int64_t j) -> double & {
    return form.t[(k + i) * n + k + j];
  };
  if (t(1, 0) == 0)
    return;
  const double half = (t(0, 0) - t(1, 1)) / 2;
  const double square = half * half + t(0, 1) * t(1, 0);
  if (square >= 0) {
    // The eigenvector (far, c) of the eigenvalue d + far.
    const double far = half + std::copysign(std::sqrt(square), half);
    const double length = std::hypot(far, t(1, 0));
    turn(form, n, k, far / length, t(1, 0) / length);
    t(1, 0) = 0;
    return;
  }
  const double angle = std::atan2(-2 * half, t(0, 1) + t(1, 0)) / 2;
  turn(form, n, k, std::cos(angle), std::sin(angle));
  t(0, 0) = t(1, 1) = (t(0, 0) + t(1, 1)) / 2;
}

} // namespace

int64_t toSchur(Similar<Complex> &form, int64_t n) {
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    const int64_t first = beginOfBlock(form.t, n, last);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > mostSteps)
      return last + 1;
    Complex shift = shiftOf(form.t, n, last);
    if (steps % patience == 0)
      shift = form.t[last * n + last] +
              0.75 * std::abs(form.t[last * n + last - 1]);
    qrStep(form, n, first, last, shift);
  }
  return 0;
}

int64_t toSchur(Similar<double> &form, int64_t n) {
  auto t = [&](int64_t i, int64_t j) { return form.t[i * n + j]; };
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    const int64_t first = beginOfBlock(form.t, n, last);
    if (first >= last - 1) {
      if (first < last)
        standardise(form, n, first);
      last = first - 1;
      steps = 0;
      continue;
    }
    if (++steps > mostSteps)
      return last + 1;
    double sum = t(last - 1, last - 1) + t(last, last);
    double product = t(last - 1, last - 1) * t(last, last) -
                     t(last - 1, last) * t(last, last - 1);
    if (steps % patience == 0) {
      const double below =
          std::abs(t(last, last - 1)) + std::abs(t(last - 1, last - 2));
      sum = 2 * t(last, last) + 1.5 * below;
      product = t(last, last) * (t(last, last) + 1.5 * below) + below * below;
    }
    francisStep(form, n, first, last, sum, product);
  }
  return 0;
}

Similar<Complex> triangular(const Similar<double> &form, int64_t n) {
  Similar<Complex> result = {{form.t.begin(), form.t.end()},
                             {form.q.begin(), form.q.end()}};
  for (int64_t k = 0; k + 1 < n; ++k) {
    const double above = form.t[k * n + k + 1], below = form.t[(k + 1) * n + k];
    if (below == 0)
      continue;
    // Of the eigenvalue above the real axis: (above, i frequency).
    const double frequency =
        std::sqrt(std::abs(above)) * std::sqrt(std::abs(below));
    const double length = std::hypot(above, frequency);
    turn(result, n, k, Complex(above / length), Complex(0, frequency / length));
    const double real = form.t[k * n + k];
    result.t[k * n + k] = Complex(real, frequency);
    result.t[(k + 1) * n + k + 1] = Complex(real, -frequency);
    result.t[(k + 1) * n + k] = 0;
    ++k;
  }
  return result;
}

std::vector<Complex> eigenvectorsOf(const Similar<Complex> &form, int64_t n,
                                    bool onTheLeft) {
  double largest = 0;
  for (const Complex &x : form.t)
    largest = std::max(largest, sizeOf(x));
  const double least =
      std::max(precision * largest, std::numeric_limits<double>::min());
  auto quotient = [&](Complex sum, Complex difference) {
    return sum / (sizeOf(difference) < least ? Complex(least) : difference);
  };
  std::vector<Complex> vectors(n * n);
  for (int64_t k = 0; k < n; ++k) {
    const Complex value = form.t[k * n + k];
    std::vector<Complex> y(n, 0);
    y[k] = 1;
    // (t - value) y = 0 from below, or y^T (t - value) = 0 from above.
    for (int64_t i = onTheLeft ? k + 1 : k - 1; i >= 0 && i < n;
         i += onTheLeft ? 1 : -1) {
      Complex sum = 0;
      for (int64_t j = std::min(i, k); j <= std::max(i, k); ++j)
        if (j != i)
          sum -=
              onTheLeft ? y[j] * form.t[j * n + i] : form.t[i * n + j] * y[j];
      y[i] = quotient(sum, form.t[i * n + i] - value);
    }
    std::vector<Complex> vector(n, 0);
    double length = 0;
    Complex first = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j)
        vector[i] += form.q[i * n + j] * (onTheLeft ? std::conj(y[j]) : y[j]);
      length = std::hypot(length, std::abs(vector[i]));
      if (std::abs(vector[i]) > std::abs(first) * (1 + 4 * precision))
        first = vector[i];
    }
    const Complex scale = first == Complex(0)
                              ? Complex(1)
                              : std::conj(first) / std::abs(first) / length;
    for (int64_t i = 0; i < n; ++i)
      vectors[i * n + k] = vector[i] * scale;
  }
  return vectors;
}

} // namespace sinter::host
