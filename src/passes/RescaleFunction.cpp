#include "passes/RescaleFunction.h"

#include <algorithm>

using namespace mlir;

namespace sinter {

std::optional<RescaleFunction>
RescaleFunction::between(quant::QuantizedType before,
                         quant::QuantizedType after,
                         QuantizedRounding rounding) {
  auto from = roundedParametersOf(before), to = roundedParametersOf(after);
  if (!from || !to)
    return std::nullopt;
  if (from->axis >= 0 && to->axis >= 0 &&
      (from->axis != to->axis || from->scales.size() != to->scales.size()))
    return std::nullopt;
  RescaleFunction function;
  function.from = std::move(*from);
  function.to = std::move(*to);
  function.fromBounds = boundsOf(before);
  function.toBounds = boundsOf(after);
  function.expressedBefore = cast<FloatType>(before.getExpressedType());
  function.expressedAfter = cast<FloatType>(after.getExpressedType());
  function.rounding = rounding;
  return function;
}

double RescaleFunction::numberBefore(size_t index, int64_t element) const {
  return dequantizedNumber(element, pick(from.scales, index),
                           pick(from.zeroPoints, index), expressedBefore);
}

double RescaleFunction::numberAfter(size_t index, int64_t element) const {
  return dequantizedNumber(element, pick(to.scales, index),
                           pick(to.zeroPoints, index), expressedAfter);
}

int64_t RescaleFunction::at(size_t index, int64_t element) const {
  return quantizedNumber(numberBefore(index, element), pick(to.scales, index),
                         pick(to.zeroPoints, index), toBounds, expressedBefore,
                         rounding);
}

std::optional<int64_t> RescaleFunction::before(size_t index,
                                               int64_t element) const {
  int64_t low = fromBounds.least, high = fromBounds.greatest;
  // The least element that becomes \p element or more.
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (at(index, middle) < element)
      low = middle + 1;
    else
      high = middle;
  }
  return at(index, low) == element ? std::optional(low) : std::nullopt;
}

/// One function of 16-bit elements: trying all takes milliseconds.
bool RescaleFunction::canBeTried() const {
  constexpr double mostTrials = 0x1p17;
  return static_cast<double>(fromBounds.greatest - fromBounds.least) *
             static_cast<double>(count()) <=
         mostTrials;
}

bool RescaleFunction::isOneFactor() const {
  if (!canBeTried() || !expressedBefore.isF32() || !expressedAfter.isF32())
    return false;
  for (size_t i = 0; i < count(); ++i) {
    const auto single = static_cast<float>(factor(i));
    for (int64_t q = fromBounds.least; q <= fromBounds.greatest; ++q) {
      const float product =
          static_cast<float>(q - pick(from.zeroPoints, i)) * single;
      if (quantizedNumber(product, 1, pick(to.zeroPoints, i), toBounds,
                          expressedAfter, rounding) != at(i, q))
        return false;
    }
  }
  return true;
}

bool RescaleFunction::keepsNumbers() const {
  if (!canBeTried() || expressedBefore != expressedAfter)
    return false;
  for (size_t i = 0; i < count(); ++i)
    for (int64_t q = fromBounds.least; q <= fromBounds.greatest; ++q)
      if (numberAfter(i, at(i, q)) != numberBefore(i, q))
        return false;
  return true;
}

bool RescaleFunction::composes(const RescaleFunction &then,
                               const RescaleFunction &both) const {
  if (!canBeTried() ||
      (count() != then.count() && count() != 1 && then.count() != 1))
    return false;
  for (size_t i = 0; i < both.count() || i < count() || i < then.count(); ++i)
    for (int64_t q = fromBounds.least; q <= fromBounds.greatest; ++q)
      if (then.at(i, at(i, q)) != both.at(i, q))
        return false;
  return true;
}

bool RescaleFunction::cutsNothing(RealRange range) const {
  for (size_t i = 0; i < count(); ++i) {
    const double unit = pick(to.scales, i);
    const double least =
                     std::max(range.least, numberBefore(i, fromBounds.least)),
                 greatest = std::min(range.greatest,
                                     numberBefore(i, fromBounds.greatest));
    if (numberAfter(i, toBounds.least) - least > unit ||
        greatest - numberAfter(i, toBounds.greatest) > unit)
      return false;
  }
  return true;
}

bool RescaleFunction::isFineEnough() const {
  // Half a unit of the type before is at most one unit of the type after.
  constexpr double coarsest = 2;
  for (size_t i = 0; i < count(); ++i)
    if (pick(from.scales, i) > coarsest * pick(to.scales, i))
      return false;
  return true;
}

std::optional<IntegerBounds> RescaleFunction::image() const {
  std::optional<IntegerBounds> all;
  for (size_t i = 0; i < count(); ++i) {
    const IntegerBounds one{at(i, fromBounds.least),
                            at(i, fromBounds.greatest)};
    if (all && *all != one)
      return std::nullopt;
    all = one;
  }
  return all;
}

bool RescaleFunction::isAlmostRounding(RealRange range) const {
  if (!isFineEnough())
    return false;
  for (size_t i = 0; i < count(); ++i) {
    const double unit = pick(to.scales, i);
    // Values that the type before clips, the type after clips, too, or they do
    // not occur.
    const double least = std::max(range.least, numberAfter(i, toBounds.least)),
                 greatest = std::min(range.greatest,
                                     numberAfter(i, toBounds.greatest));
    const double half = pick(from.scales, i) / 2;
    if (numberBefore(i, fromBounds.least) - least > std::max(half, unit / 2) ||
        greatest - numberBefore(i, fromBounds.greatest) >
            std::max(half, unit / 2))
      return false;
  }
  return true;
}

} // namespace sinter
