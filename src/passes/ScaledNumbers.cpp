//===- ScaledNumbers.cpp - checks scaled weights against their type -------===//

#include "passes/ScaledNumbers.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "runtime/ElementDispatch.h"
#include "runtime/MappedPages.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter {

bool isOne(ArrayRef<double> scale) {
  return llvm::all_of(scale, [](double each) { return each == 1; });
}

std::vector<double> roundedTo(ElementType type, ArrayRef<double> numbers) {
  const Tensor tensor =
      tensorOfDoubles(type, {static_cast<int64_t>(numbers.size())}, numbers);
  std::vector<double> result;
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.push_back(tensor.toDouble(i));
  return result;
}

bool isModerate(ArrayRef<double> scale) {
  constexpr double most = 256;
  return llvm::all_of(scale, [](double each) {
    return std::abs(each) <= most && (each == 0 || std::abs(each) >= 1 / most);
  });
}

bool roundsFinitely(ElementType type, ArrayRef<double> numbers) {
  return dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>)
      return false;
    else
      return llvm::all_of(numbers, [](double number) {
        // Most are far below the greatest finite value, and need not be rounded
        // to check that.
        return std::abs(number) <=
                   static_cast<double>(std::numeric_limits<T>::max()) ||
               std::isfinite(static_cast<double>(static_cast<T>(number)));
      });
  });
}

/// The least positive value of the type that is not flushed to zero by a kernel
/// (runtime/FloatMode.h); f16 is not flushed.
template <typename T> static double leastKept() {
  constexpr bool isWide = std::numeric_limits<T>::min_exponent <=
                          std::numeric_limits<float>::min_exponent;
  return isWide ? static_cast<double>(std::numeric_limits<T>::min()) : 0;
}

/// The file's pages that were read are released after so many elements.
static constexpr int64_t releaseEvery = int64_t(1) << 22;

/// Scales \p from into \p to, by one factor a channel. Returns whether all
/// results are zeros or normal numbers of the type: those are finite, and keep
/// their precision when they are rounded.
template <typename T>
static bool scaleNormally(const Weight &weight, const Tensor &from, Tensor &to,
                          const ChannelOf &channelOf, ArrayRef<double> scale) {
  const auto least = static_cast<double>(std::numeric_limits<T>::min());
  const auto most = static_cast<double>(std::numeric_limits<T>::max());
  // Sums of booleans, since loops over these are vectorised.
  int64_t notNormal = 0, read = 0;
  const auto scaleRun = [&](ChannelOf::Run run, auto sourceIndex,
                            auto factorOf) {
    int64_t notNormalHere = 0;
    for (int64_t i = 0; i < run.length; ++i) {
      const int64_t target = sourceIndex(run.begin + i);
      const double number =
          static_cast<double>(from.at<T>(target)) * factorOf(i);
      const double size = std::abs(number);
      notNormalHere +=
          int64_t(!(size <= most)) | (int64_t(size < least) & (size != 0));
      to.set<T>(target, static_cast<T>(number));
    }
    notNormal += notNormalHere;
  };
  weight.withSourceIndex([&](auto sourceIndex) {
    channelOf.forEachRun(from.size(), [&](ChannelOf::Run run) {
      const double *factors = scale.data() + run.channel;
      if (run.inTurn)
        scaleRun(run, sourceIndex, [=](int64_t i) { return factors[i]; });
      else
        scaleRun(run, sourceIndex,
                 [factor = *factors](int64_t) { return factor; });
      read += run.length;
      if (read >= releaseEvery) {
        releasePages({from.data(), from.bytes()});
        read = 0;
      }
    });
  });
  return notNormal == 0;
}

/// Whether \p before, finite and scaled to \p numbers and rounded to the type,
/// keeps the type's precision, which is lower for subnormal numbers. Rounding
/// errors are relative to the largest value of their channel. A channel that
/// counts as zeros before has no precision to lose: weight decay makes such
/// channels of those without effect.
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
      channelOf.forEach(numbers.size(), [&](int64_t index,
                                            int64_t channelIndex) {
        const double number = numbers[index];
        Channel &channel = channels[channelIndex];
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

std::optional<Tensor> scaledValues(const Weight &weight,
                                   const ChannelOf &channelOf,
                                   ArrayRef<double> scale) {
  if (isOne(scale))
    return Tensor();
  const std::optional<Tensor> from = weight.values();
  if (!from)
    return std::nullopt;
  Tensor to(from->type(), from->shape());
  const bool areNormal = dispatch(from->type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>)
      return false;
    else
      return scaleNormally<T>(weight, *from, to, channelOf, scale);
  });
  releasePages({from->data(), from->bytes()});
  if (areNormal)
    return to;
  const std::vector<double> before = *weight.numbers();
  std::vector<double> numbers = before;
  channelOf.forEach(numbers.size(), [&](int64_t index, int64_t channel) {
    numbers[index] *= scale[channel];
  });
  if (!llvm::all_of(before, [](double each) { return std::isfinite(each); }) ||
      !roundsFinitely(weight.type(), numbers) ||
      !keepsDigits(weight.type(), before, numbers, channelOf))
    return std::nullopt;
  return to;
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
  return isModerate(scale);
}

} // namespace sinter
