//===- Random.cpp - reproducible random tensors ---------------------------===//

#include "runtime/Random.h"
#include "runtime/ElementDispatch.h"
#include "runtime/Strings.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sinter {

namespace {

/// A value in [low, high) with as many random digits as \p T has, so that
/// rounding to \p T cannot reach the upper end of [-1, 1).
template <typename T> T uniform(uint64_t random, const RandomOptions &options) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const double unit = static_cast<double>(random >> (64 - digits)) /
                      static_cast<double>(uint64_t(1) << digits);
  return T(options.low + unit * (options.high - options.low));
}

template <typename T>
T element(ElementType type, uint64_t random, const RandomOptions &options) {
  if constexpr (isStdComplex<T>) {
    using Real = typename T::value_type;
    return {uniform<Real>(random, options),
            uniform<Real>(splitMix(random, 0), options)};
  } else if constexpr (std::is_integral_v<T>) {
    const unsigned bits =
        bitWidth(type) - (classOf(type) == ElementClass::SInt ? 1 : 0);
    const uint64_t values =
        bits >= 64 ? std::numeric_limits<uint64_t>::max() : uint64_t(1) << bits;
    const uint64_t limit =
        type == ElementType::I1
            ? 2
            : std::clamp<uint64_t>(options.integerLimit, 1, values);
    return static_cast<T>((random >> 1) % limit);
  } else {
    return uniform<T>(random, options);
  }
}

} // namespace

/// One of a few words, which the process keeps.
static StringHandle randomWord(uint64_t random) {
  static constexpr std::string_view words[] = {
      "", "a", "be", "Cat", "dog 2", "\u00e9t\u00e9", "3", "-0.5"};
  static const auto handles = [] {
    static StringHolder holder;
    std::array<StringHandle, std::size(words)> handles;
    std::ranges::transform(words, handles.begin(), [](std::string_view word) {
      return holder.hold(word);
    });
    return handles;
  }();
  return handles[random >> 1 & (handles.size() - 1)];
}

void fillRandom(Tensor &tensor, uint64_t seed, const RandomOptions &options) {
  if (isString(tensor.type())) {
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set(i, randomWord(splitMix(seed, static_cast<uint64_t>(i))));
    return;
  }
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set<T>(i, element<T>(tensor.type(),
                                  splitMix(seed, static_cast<uint64_t>(i)),
                                  options));
  });
}

} // namespace sinter
