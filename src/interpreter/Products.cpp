//===- Products.cpp - the matrix product under convolution and dot --------===//

#include "interpreter/Products.h"
#include "runtime/ElementDispatch.h"

#include <Eigen/Core>

namespace sinter::interpreter {

template <typename T>
void addProduct(int64_t m, int64_t k, int64_t n, const T *lhs, const T *rhs,
                T *out) {
  if constexpr (isStdComplex<T>) {
    // Written out, as operator* checks for infinities.
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p) {
        const auto re = lhs[i * k + p].real(), im = lhs[i * k + p].imag();
        for (int64_t j = 0; j < n; ++j) {
          const T b = rhs[p * n + j];
          out[i * n + j] +=
              T(re * b.real() - im * b.imag(), re * b.imag() + im * b.real());
        }
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
                           T *);                                               \
  template std::vector<T> toAccumulators(const Tensor &);                      \
  template void fromAccumulators(std::span<const T>, Tensor &);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(uint64_t)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

} // namespace sinter::interpreter
