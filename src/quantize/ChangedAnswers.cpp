//===- ChangedAnswers.cpp - upper bound of the loss of accuracy -----------===//

#include "quantize/ChangedAnswers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::quantize {

// Together they miss in 10 % of cases.
static constexpr double upperMissed = 0.09, lowerMissed = 0.01;

void ChangedAnswers::add(bool wasRight, bool isRight) {
  ++count;
  toWrong += wasRight && !isRight;
  toRight += !wasRight && isRight;
}

/// The probability that at most \p found of \p count samples are of a kind that
/// each is with \p probability, in (0, 1).
static double binomialSum(uint64_t found, uint64_t count, double probability) {
  const double odds = std::log(probability) - std::log1p(-probability);
  double term = static_cast<double>(count) * std::log1p(-probability);
  double sum = std::exp(term);
  for (uint64_t i = 1; i <= found; ++i) {
    term += std::log(static_cast<double>(count - i + 1)) -
            std::log(static_cast<double>(i)) + odds;
    sum += std::exp(term);
  }
  return std::min(sum, 1.0);
}

double upperBinomialBound(uint64_t found, uint64_t count, double missed) {
  if (found >= count)
    return 1;
  constexpr int steps = 60;
  double low = 0, high = 1;
  for (int i = 0; i < steps; ++i) {
    const double middle = (low + high) / 2;
    (binomialSum(found, count, middle) > missed ? low : high) = middle;
  }
  return high;
}

double lowerBinomialBound(uint64_t found, uint64_t count, double missed) {
  return 1 - upperBinomialBound(count - std::min(found, count), count, missed);
}

std::optional<double> ChangedAnswers::lossOfOthers() const {
  if (count == 0)
    return std::nullopt;
  const double most = upperBinomialBound(toWrong, count, upperMissed) -
                      lowerBinomialBound(toRight, count, lowerMissed);
  const double ofThese =
      (static_cast<double>(toWrong) - static_cast<double>(toRight)) /
      static_cast<double>(count);
  return std::max(most, ofThese);
}

uint64_t ChangedAnswers::samplesFor(double part) {
  if (part <= 0)
    return std::numeric_limits<uint64_t>::max();
  if (part >= 1)
    return 1;
  return static_cast<uint64_t>(
      std::ceil(std::log(upperMissed) / std::log1p(-part)));
}

} // namespace sinter::quantize
