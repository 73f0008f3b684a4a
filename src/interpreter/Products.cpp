//===- Products.cpp - the GEMM of convolution and dot ---------------------===//

#include "interpreter/Products.h"
#include "runtime/ElementDispatch.h"

#include <Eigen/Core>

namespace sinter::interpreter {

/// Component 0 (real) or 1 (imaginary) of complex numbers.
template <typename F>
static std::vector<F> componentsOf(const std::complex<F> *numbers,
                                   int64_t count, int component) {
  const F *components = reinterpret_cast<const F *>(numbers);
  std::vector<F> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = components[2 * i + component];
  return result;
}

/// Computes four matmuls of real matrices, or few rows directly. Both without
/// the checks for infinities of operator*.
template <typename F>
static void
addComplexProduct(int64_t m, int64_t k, int64_t n, const std::complex<F> *lhs,
                  const std::complex<F> *rhs, std::complex<F> *out) {
  if (m < 4) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p) {
        const F re = lhs[i * k + p].real(), im = lhs[i * k + p].imag();
        for (int64_t j = 0; j < n; ++j) {
          const std::complex<F> b = rhs[p * n + j];
          out[i * n + j] += std::complex<F>(re * b.real() - im * b.imag(),
                                            re * b.imag() + im * b.real());
        }
      }
    return;
  }
  std::vector<F> left[2], right[2], sums(m * n);
  for (int component : {0, 1}) {
    left[component] = componentsOf(lhs, m * k, component);
    right[component] = componentsOf(rhs, k * n, component);
  }
  F *components = reinterpret_cast<F *>(out);
  auto add = [&](int a, int b, F sign, int component) {
    std::fill(sums.begin(), sums.end(), F());
    addProduct<F>(m, k, n, left[a].data(), right[b].data(), sums.data());
    for (int64_t i = 0; i < m * n; ++i)
      components[2 * i + component] += sign * sums[i];
  };
  add(0, 0, 1, 0);
  add(1, 1, -1, 0);
  add(0, 1, 1, 1);
  add(1, 0, 1, 1);
}

template <typename T>
void addProduct(int64_t m, int64_t k, int64_t n, const T *lhs, const T *rhs,
                T *out) {
  if constexpr (isStdComplex<T>) {
    addComplexProduct(m, k, n, lhs, rhs, out);
  } else if (m < 4) {
    // Row by row, where blocks gain nothing.
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p) {
        const T factor = lhs[i * k + p];
        for (int64_t j = 0; j < n; ++j)
          out[i * n + j] += factor * rhs[p * n + j];
      }
  } else {
    using Matrix =
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Matrix>(out, m, n).noalias() +=
        Eigen::Map<const Matrix>(lhs, m, k) *
        Eigen::Map<const Matrix>(rhs, k, n);
  }
}

template <typename T> std::vector<T> toAccumulators(const Tensor &tensor) {
  std::vector<T> values(tensor.size());
  inChunks(tensor.size(), [&](int64_t begin, int64_t count) {
    const auto size = static_cast<size_t>(count);
    auto copy = [&](const auto &buffer) {
      for (size_t i = 0; i < size; ++i)
        values[begin + i] = static_cast<T>(buffer[i]);
    };
    if constexpr (isStdComplex<T>) {
      std::complex<double> buffer[chunkSize];
      loadComplex(tensor, begin, std::span(buffer, size));
      copy(buffer);
    } else if constexpr (std::is_integral_v<T>) {
      int64_t buffer[chunkSize];
      loadIntegers(tensor, begin, std::span(buffer, size));
      copy(buffer);
    } else {
      double buffer[chunkSize];
      loadReals(tensor, begin, std::span(buffer, size));
      copy(buffer);
    }
  });
  return values;
}

template <typename T>
void fromAccumulators(std::span<const T> values, Tensor &result) {
  inChunks(result.size(), [&](int64_t begin, int64_t count) {
    const auto piece = values.subspan(begin, count);
    if constexpr (isStdComplex<T>)
      storeComplex(
          result, begin,
          std::vector<std::complex<double>>(piece.begin(), piece.end()));
    else if constexpr (std::is_integral_v<T>)
      storeIntegers(result, begin,
                    std::vector<int64_t>(piece.begin(), piece.end()));
    else
      storeReals(result, begin,
                 std::vector<double>(piece.begin(), piece.end()));
  });
}

#define INSTANTIATE(T)                                                         \
  template void addProduct(int64_t, int64_t, int64_t, const T *, const T *,    \
                           std::add_pointer_t<T>);                             \
  template std::vector<T> toAccumulators(const Tensor &);                      \
  template void fromAccumulators(std::span<const T>, Tensor &);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(uint64_t)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

} // namespace sinter::interpreter
