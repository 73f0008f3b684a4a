//===- ScaledNumbers.cpp - checks scaled weights against their type -------===//

#include "passes/ScaledNumbers.h"

#include "graph/Types.h"
#include "runtime/ElementDispatch.h"
#include <cmath>

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
        return std::isfinite(static_cast<double>(static_cast<T>(number)));
      });
  });
}

/// Whether \p numbers, rounded to the type, keep the digits that it has: below
/// its normal numbers there are fewer. What is rounded off counts against the
/// largest number of its channel.
static bool keepsDigits(ElementType type, ArrayRef<double> numbers,
                        const ChannelOf &channelOf) {
  return dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>) {
      return false;
    } else {
      std::vector<double> largest(channelOf.count(), 0);
      std::vector<double> lost(channelOf.count(), 0);
      channelOf.forEach(numbers.size(), [&](int64_t index, int64_t channel) {
        double number = numbers[index];
        double rounded = static_cast<double>(static_cast<T>(number));
        largest[channel] = std::max(largest[channel], std::abs(number));
        lost[channel] = std::max(lost[channel], std::abs(rounded - number));
      });
      const double unit =
          static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
      for (auto [most, error] : llvm::zip_equal(largest, lost))
        if (error > unit * most)
          return false;
      return true;
    }
  });
}

std::optional<std::vector<double>> scaledNumbers(const Weight &weight,
                                                 const ChannelOf &channelOf,
                                                 ArrayRef<double> scale) {
  if (isOne(scale))
    return std::vector<double>();
  std::vector<double> numbers = weight.numbers();
  if (!llvm::all_of(numbers, [](double each) { return std::isfinite(each); }))
    return std::nullopt;
  channelOf.forEach(numbers.size(), [&](int64_t index, int64_t channel) {
    numbers[index] *= scale[channel];
  });
  if (!roundsFinitely(weight.type(), numbers) ||
      !keepsDigits(weight.type(), numbers, channelOf))
    return std::nullopt;
  return numbers;
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
