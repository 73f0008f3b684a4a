//===- ScaledNumbers.cpp - checks scaled weights against their type -------===//

#include "passes/ScaledNumbers.h"

#include "graph/Types.h"
#include "runtime/ElementDispatch.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter {

bool isOne(ArrayRef<double> scale) {
  return llvm::all_of(scale, [](double each) { return each == 1; });
}

bool roundsFinitely(ElementType type, ArrayRef<double> numbers) {
  return dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>)
      return false;
    else
      return llvm::all_of(numbers, [](double number) {
        // Most are far below the greatest, and need not be rounded to see it.
        return std::abs(number) <=
                   static_cast<double>(std::numeric_limits<T>::max()) ||
               std::isfinite(static_cast<double>(static_cast<T>(number)));
      });
  });
}

/// The least positive number of the type that a kernel keeps: below it, numbers
/// are taken for zeros (runtime/FloatMode.h), but for those of f16.
template <typename T> static double leastKept() {
  constexpr bool isWide = std::numeric_limits<T>::min_exponent <=
                          std::numeric_limits<float>::min_exponent;
  return isWide ? static_cast<double>(std::numeric_limits<T>::min()) : 0;
}

/// Scales \p numbers in place, one channel by one factor, and says whether all
/// that comes of it are zeros or normal numbers of the type: those are finite,
/// and keep their digits when they are rounded.
static bool scaleNormally(ElementType type, const ChannelOf &channelOf,
                          ArrayRef<double> scale,
                          MutableArrayRef<double> numbers) {
  return dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>) {
      return false;
    } else {
      const auto least = static_cast<double>(std::numeric_limits<T>::min());
      const auto most = static_cast<double>(std::numeric_limits<T>::max());
      bool areNormal = true;
      channelOf.forEachRun(numbers.size(), [&](ChannelOf::Run run) {
        double *number = numbers.data() + run.begin;
        const double *factor = scale.data() + run.channel;
        const auto scaleOne = [&](double &each, double by) {
          each *= by;
          const double size = std::abs(each);
          areNormal &= (size >= least || size == 0) && size <= most;
        };
        if (run.inTurn)
          for (int64_t i = 0; i < run.length; ++i)
            scaleOne(number[i], factor[i]);
        else
          for (int64_t i = 0; i < run.length; ++i)
            scaleOne(number[i], *factor);
      });
      return areNormal;
    }
  });
}

/// Whether \p before, finite and scaled to \p numbers and rounded to the type,
/// keeps the digits that the type has: below its normal numbers there are
/// fewer. What is rounded off counts against the largest number of its channel.
/// A channel that counts as zeros before has no digits to lose: training with
/// weight decay makes such ones of channels that do nothing.
static bool keepsDigits(ElementType type, ArrayRef<double> before,
                        ArrayRef<double> numbers, const ChannelOf &channelOf) {
  return dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>) {
      return false;
    } else {
      struct Channel {
        double before = 0, largest = 0, lost = 0;
      };
      std::vector<Channel> channels(channelOf.count());
      channelOf.forEach(numbers.size(), [&](int64_t index, int64_t place) {
        const double number = numbers[index];
        Channel &channel = channels[place];
        channel.before = std::max(channel.before, std::abs(before[index]));
        channel.largest = std::max(channel.largest, std::abs(number));
        // A normal number loses half a unit at most, which is allowed.
        if (std::numeric_limits<T>::is_integer ||
            std::abs(number) <
                static_cast<double>(std::numeric_limits<T>::min())) {
          const double rounded = static_cast<double>(static_cast<T>(number));
          channel.lost = std::max(channel.lost, std::abs(rounded - number));
        }
      });
      const double unit =
          static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
      return llvm::all_of(channels, [&](const Channel &channel) {
        return channel.lost <= unit * channel.largest ||
               channel.before < leastKept<T>();
      });
    }
  });
}

std::optional<std::vector<double>> scaledNumbers(const Weight &weight,
                                                 const ChannelOf &channelOf,
                                                 ArrayRef<double> scale) {
  if (isOne(scale))
    return std::vector<double>();
  std::optional<std::vector<double>> known = weight.numbers();
  if (!known)
    return std::nullopt;
  std::vector<double> &numbers = *known;
  if (scaleNormally(weight.type(), channelOf, scale, numbers))
    return known;
  const std::vector<double> before = *weight.numbers();
  if (!llvm::all_of(before, [](double each) { return std::isfinite(each); }) ||
      !roundsFinitely(weight.type(), numbers) ||
      !keepsDigits(weight.type(), before, numbers, channelOf))
    return std::nullopt;
  return known;
}

bool isRoundedCoarsely(Value product) {
  return tensorOf(product).getElementType().getIntOrFloatBitWidth() < 32;
}

bool keepsRange(Value product, ArrayRef<ChannelStep> chain,
                ArrayRef<double> scale) {
  Type element = tensorOf(product).getElementType();
  const bool isConverted = llvm::any_of(chain, [](const ChannelStep &step) {
    return step.kind == AffineStepKind::Convert;
  });
  // bf16 has the range of f32.
  if (!isConverted || element.isBF16() || element.getIntOrFloatBitWidth() >= 32)
    return true;
  constexpr double most = 256;
  return llvm::all_of(scale, [](double each) {
    return std::abs(each) <= most && (each == 0 || std::abs(each) >= 1 / most);
  });
}

} // namespace sinter
