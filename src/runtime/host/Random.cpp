//===- Random.cpp - random bits and numbers for programs ------------------===//

#include "runtime/ElementDispatch.h"
#include "runtime/RandomBits.h"
#include "runtime/host/Builtin.h"

#include <cmath>
#include <cstring>
#include <numbers>

namespace sinter::host {

namespace {

/// For types of fewer than 8 bits, the form that the runtime expects in a byte.
uint64_t lowBits(uint64_t word, ElementType type) {
  const unsigned bits = bitWidth(type);
  if (bits >= 8)
    return word;
  const uint64_t low = word & ((uint64_t(1) << bits) - 1);
  const bool isNegative =
      classOf(type) == ElementClass::SInt && (low >> (bits - 1) & 1) != 0;
  return isNegative ? low | ~uint64_t(0) << bits : low;
}

/// A value in [0, 1) of 53 random bits.
double unitInterval(uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// Sets element \p i to low + word mod (high - low) or, for floats, to a value
/// in [low, high).
template <typename T>
void setUniform(Tensor &result, int64_t i, T low, T high, uint64_t word) {
  if constexpr (std::is_integral_v<T>) {
    const auto first = static_cast<uint64_t>(+low);
    const uint64_t range = static_cast<uint64_t>(high) - first;
    const uint64_t value = first + (range ? word % range : 0);
    result.set(i, static_cast<T>(result.type() == ElementType::I1
                                     ? value != 0
                                     : lowBits(value, result.type())));
  } else if constexpr (!isStdComplex<T>) {
    const auto a = static_cast<double>(low), b = static_cast<double>(high);
    const auto value = static_cast<T>(a + unitInterval(word) * (b - a));
    // Rounding may have reached the end, which is excluded.
    result.set(i, static_cast<double>(value) >= b ? low : value);
  }
}

/// Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958).
double normal(double mean, double deviation, const uint64_t *words) {
  const double radius = std::sqrt(-2 * std::log1p(-unitInterval(words[0])));
  return mean + deviation * radius *
                    std::cos(2 * std::numbers::pi * unitInterval(words[1]));
}

} // namespace

Result<void> rngBitGenerator(const HostCall &call) {
  const Tensor &initial = call.inputs[0];
  Tensor &state = call.outputs[0], &output = call.outputs[1];
  const bool isThreefry =
      HostConfiguration(call.configuration).number("algorithm") == 1;
  if (initial.type() != ElementType::UI64 || initial.rank() != 1 ||
      initial.size() < 2 || initial.size() > (isThreefry ? 2 : 3))
    return unsupported("initial_state is not two (or for Philox three) ui64");
  if (isComplex(output.type()))
    return unsupported("random bits of a complex type");
  std::memcpy(state.mutableBytes(), initial.data(), initial.bytes());
  if (output.size() == 0)
    return {};
  // Of narrow types the low bits of a 32-bit word.
  const size_t size = byteSize(output.type());
  const unsigned bits = size == 8 ? 64 : 32;
  const std::span<uint64_t> words = state.mutableValues<uint64_t>();
  const std::vector<uint64_t> drawn =
      isThreefry ? threefryWords(words, output.shape(), bits)
                 : philoxWords(words, output.size(), bits);
  for (int64_t i = 0; i < output.size(); ++i) {
    const uint64_t word = lowBits(drawn[i], output.type());
    std::memcpy(output.mutableBytes() + i * size, &word, size);
  }
  return {};
}

Result<void> rng(const HostCall &call) {
  const Tensor &a = call.inputs[0], &b = call.inputs[1];
  Tensor &result = call.outputs[0];
  const bool isNormal =
      HostConfiguration(call.configuration).number("distribution") == 2;
  if (isNormal && !isFloat(result.type()))
    return invalidModel("a normal distribution is one of floats");
  uint64_t state[] = {call.random.seed, call.random.drawn};
  const int64_t count[] = {result.size() * (isNormal ? 2 : 1)};
  const std::vector<uint64_t> words = threefryWords(state, count, 64);
  call.random.drawn = state[1];
  dispatch(result.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T>)
      for (int64_t i = 0; i < result.size(); ++i) {
        if (isNormal)
          result.set(i, static_cast<T>(normal(a.toDouble(0), b.toDouble(0),
                                              &words[2 * i])));
        else
          setUniform(result, i, a.at<T>(0), b.at<T>(0), words[i]);
      }
  });
  return {};
}

} // namespace sinter::host
