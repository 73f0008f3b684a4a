//===- Matrices.h - stacks of matrices in f64 -----------------------------===//

#ifndef SINTER_RUNTIME_HOST_MATRICES_H
#define SINTER_RUNTIME_HOST_MATRICES_H

#include "runtime/ElementDispatch.h"
#include "runtime/Tensor.h"

#include <complex>
#include <vector>

namespace sinter::host {

/// Elements [begin, begin + count) as type N: double, or std::complex<double>.
template <typename N>
std::vector<N> load(const Tensor &tensor, int64_t begin, int64_t count) {
  std::vector<N> values(count);
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < count; ++i) {
      const T element = tensor.at<T>(begin + i);
      if constexpr (!isStdComplex<T>)
        values[i] = N(static_cast<double>(element));
      else if constexpr (isStdComplex<N>)
        values[i] = N(element);
      else
        values[i] = element.real();
    }
  });
  return values;
}

/// Stores \p values, rounded, to the elements from \p begin on.
template <typename N>
void store(Tensor &tensor, int64_t begin, const std::vector<N> &values) {
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < values.size(); ++i) {
      T element;
      if constexpr (isStdComplex<T>)
        element = T(values[i]);
      else if constexpr (isStdComplex<N>)
        element = static_cast<T>(values[i].real());
      else
        element = static_cast<T>(values[i]);
      tensor.set(begin + static_cast<int64_t>(i), element);
    }
  });
}

/// Calls `visit(std::type_identity<N>{})` with the N to compute \p type in.
template <typename Visitor>
decltype(auto) inWideNumbers(ElementType type, Visitor &&visit) {
  if (isComplex(type))
    return visit(std::type_identity<std::complex<double>>{});
  return visit(std::type_identity<double>{});
}

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) {
  return std::conj(x);
}

} // namespace sinter::host

#endif // SINTER_RUNTIME_HOST_MATRICES_H
