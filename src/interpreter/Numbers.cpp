//===- Numbers.cpp - elements as doubles and as 64-bit integers -----------===//

#include "interpreter/Numbers.h"
#include "runtime/ElementDispatch.h"

#include <algorithm>
#include <cmath>

namespace sinter::interpreter {

/// Truncates \p value and clamps it to [low, high]; NaN becomes 0. The bounds
/// are those of an integer type of at most 64 bits.
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

template <typename T> static const T *typed(const std::byte *elements) {
  return reinterpret_cast<const T *>(elements);
}
template <typename T> static T *typed(std::byte *elements) {
  return reinterpret_cast<T *>(elements);
}

void loadReals(ElementType type, const std::byte *from, std::span<double> out) {
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *elements = typed<T>(from);
    for (size_t i = 0; i < out.size(); ++i)
      if constexpr (isStdComplex<T>)
        out[i] = elements[i].real();
      else
        out[i] = static_cast<double>(elements[i]);
  });
}

void storeReals(ElementType type, std::byte *to,
                std::span<const double> values) {
  const unsigned bits = bitWidth(type);
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *elements = typed<T>(to);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (isStdComplex<T>)
        elements[i] = T(static_cast<typename T::value_type>(values[i]));
      else if constexpr (!std::is_integral_v<T>)
        elements[i] = static_cast<T>(values[i]);
      else
        elements[i] =
            bits == 1 ? T(values[i] != 0) : saturate<T>(values[i], bits);
    }
  });
}

void loadIntegers(ElementType type, const std::byte *from,
                  std::span<int64_t> out) {
  const bool isBool = type == ElementType::I1;
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *elements = typed<T>(from);
    for (size_t i = 0; i < out.size(); ++i)
      if constexpr (std::is_integral_v<T>)
        out[i] = isBool ? elements[i] != 0 : static_cast<int64_t>(elements[i]);
      else if constexpr (isStdComplex<T>)
        out[i] = saturate<int64_t>(elements[i].real(), 64);
      else
        out[i] = saturate<int64_t>(static_cast<double>(elements[i]), 64);
  });
}

void storeIntegers(ElementType type, std::byte *to,
                   std::span<const int64_t> values, bool isUnsigned) {
  const unsigned bits = bitWidth(type);
  auto rounded = [&]<typename T>(int64_t value, T) {
    return isUnsigned ? static_cast<T>(static_cast<uint64_t>(value))
                      : static_cast<T>(value);
  };
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *elements = typed<T>(to);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (isStdComplex<T>)
        elements[i] = T(rounded(values[i], typename T::value_type()));
      else if constexpr (!std::is_integral_v<T>)
        elements[i] = rounded(values[i], T());
      else
        elements[i] = bits == 1 ? T(values[i] != 0) : wrap<T>(values[i], bits);
    }
  });
}

void loadComplex(ElementType type, const std::byte *from,
                 std::span<std::complex<double>> out) {
  if (!isComplex(type)) {
    std::vector<double> numbers(out.size());
    loadReals(type, from, numbers);
    std::copy(numbers.begin(), numbers.end(), out.begin());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = type == ElementType::C64 ? typed<std::complex<float>>(from)[i]
                                      : typed<std::complex<double>>(from)[i];
}

void storeComplex(ElementType type, std::byte *to,
                  std::span<const std::complex<double>> values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (type == ElementType::C64)
      typed<std::complex<float>>(to)[i] = std::complex<float>(values[i]);
    else
      typed<std::complex<double>>(to)[i] = values[i];
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

void normalizeSubByte(ElementType type, std::byte *elements, int64_t count) {
  const unsigned bits = bitWidth(type);
  if (bits >= 8)
    return;
  const bool isSigned = classOf(type) == ElementClass::SInt;
  for (uint8_t &byte : std::span(typed<uint8_t>(elements), size_t(count))) {
    if (bits == 1)
      byte = byte != 0;
    else if (isSigned)
      byte = static_cast<uint8_t>(wrap<int8_t>(byte, bits));
    else
      byte = wrap<uint8_t>(byte, bits);
  }
}

} // namespace sinter::interpreter
