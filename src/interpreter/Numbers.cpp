//===- Numbers.cpp - elements as doubles and as 64-bit integers -----------===//

#include "interpreter/Numbers.h"
#include "runtime/ElementDispatch.h"

#include <algorithm>
#include <cmath>

namespace sinter::interpreter {

/// \p value toward zero into [low, high]; NaN is 0. The bounds are those of an
/// integer type of at most 64 bits.
template <typename T> static T saturate(double value, unsigned bits) {
  if (std::isnan(value))
    return 0;
  const unsigned magnitude = std::is_signed_v<T> ? bits - 1 : bits;
  const double limit = std::ldexp(1.0, static_cast<int>(magnitude));
  const uint64_t most = (uint64_t(2) << (magnitude - 1)) - 1;
  value = std::trunc(value);
  if (value >= limit)
    return static_cast<T>(most);
  if (std::is_signed_v<T>)
    return value < -limit ? static_cast<T>(~most) : static_cast<T>(value);
  return value < 0 ? T(0) : static_cast<T>(value);
}

/// The low \p bits of \p value, extended as T is.
template <typename T> static T wrap(int64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  const uint64_t high = static_cast<uint64_t>(value) << shift;
  return std::is_signed_v<T>
             ? static_cast<T>(static_cast<int64_t>(high) >> shift)
             : static_cast<T>(high >> shift);
}

template <typename T>
static const T *elements(const Tensor &tensor, int64_t at) {
  return reinterpret_cast<const T *>(tensor.data()) + at;
}
template <typename T> static T *elements(Tensor &tensor, int64_t at) {
  return reinterpret_cast<T *>(tensor.mutableBytes()) + at;
}

void loadReals(const Tensor &tensor, int64_t begin, std::span<double> out) {
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = elements<T>(tensor, begin);
    for (size_t i = 0; i < out.size(); ++i)
      if constexpr (isStdComplex<T>)
        out[i] = from[i].real();
      else
        out[i] = static_cast<double>(from[i]);
  });
}

void storeReals(Tensor &tensor, int64_t begin, std::span<const double> values) {
  const unsigned bits = bitWidth(tensor.type());
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *to = elements<T>(tensor, begin);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (isStdComplex<T>)
        to[i] = T(static_cast<typename T::value_type>(values[i]));
      else if constexpr (!std::is_integral_v<T>)
        to[i] = static_cast<T>(values[i]);
      else
        to[i] = bits == 1 ? T(values[i] != 0) : saturate<T>(values[i], bits);
    }
  });
}

void loadIntegers(const Tensor &tensor, int64_t begin, std::span<int64_t> out) {
  const bool isBool = tensor.type() == ElementType::I1;
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const T *from = elements<T>(tensor, begin);
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = isBool ? from[i] != 0 : static_cast<int64_t>(from[i]);
    } else {
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = tensor.toInteger(begin + static_cast<int64_t>(i));
    }
  });
}

void storeIntegers(Tensor &tensor, int64_t begin,
                   std::span<const int64_t> values, bool isUnsigned) {
  const unsigned bits = bitWidth(tensor.type());
  auto rounded = [&]<typename T>(int64_t value, T) {
    return isUnsigned ? static_cast<T>(static_cast<uint64_t>(value))
                      : static_cast<T>(value);
  };
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *to = elements<T>(tensor, begin);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (isStdComplex<T>)
        to[i] = T(rounded(values[i], typename T::value_type()));
      else if constexpr (!std::is_integral_v<T>)
        to[i] = rounded(values[i], T());
      else
        to[i] = bits == 1 ? T(values[i] != 0) : wrap<T>(values[i], bits);
    }
  });
}

void loadComplex(const Tensor &tensor, int64_t begin,
                 std::span<std::complex<double>> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const auto at = begin + static_cast<int64_t>(i);
    if (tensor.type() == ElementType::C64)
      out[i] = tensor.at<std::complex<float>>(at);
    else if (tensor.type() == ElementType::C128)
      out[i] = tensor.at<std::complex<double>>(at);
    else
      out[i] = tensor.toDouble(at);
  }
}

void storeComplex(Tensor &tensor, int64_t begin,
                  std::span<const std::complex<double>> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = begin + static_cast<int64_t>(i);
    if (tensor.type() == ElementType::C64)
      tensor.set(at, std::complex<float>(values[i]));
    else
      tensor.set(at, values[i]);
  }
}

std::vector<double> reals(const Tensor &tensor) {
  std::vector<double> values(tensor.size());
  loadReals(tensor, 0, values);
  return values;
}

std::vector<int64_t> integers(const Tensor &tensor) {
  std::vector<int64_t> values(tensor.size());
  loadIntegers(tensor, 0, values);
  return values;
}

Tensor realTensor(ElementType type, Shape shape,
                  std::span<const double> values) {
  Tensor tensor(type, std::move(shape));
  storeReals(tensor, 0, values);
  return tensor;
}

Tensor integerTensor(ElementType type, Shape shape,
                     std::span<const int64_t> values) {
  Tensor tensor(type, std::move(shape));
  storeIntegers(tensor, 0, values);
  return tensor;
}

void normalizeSubByte(Tensor &tensor) {
  const unsigned bits = bitWidth(tensor.type());
  if (bits >= 8)
    return;
  const bool isSigned = classOf(tensor.type()) == ElementClass::SInt;
  for (uint8_t &byte : tensor.mutableValues<uint8_t>()) {
    if (bits == 1)
      byte = byte != 0;
    else if (isSigned)
      byte = static_cast<uint8_t>(wrap<int8_t>(byte, bits));
    else
      byte = wrap<uint8_t>(byte, bits);
  }
}

} // namespace sinter::interpreter
