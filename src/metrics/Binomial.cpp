//===- Binomial.cpp - confidence bounds of proportions --------------------===//

#include "metrics/Binomial.h"

#include <algorithm>
#include <cmath>

namespace sinter {

/// The 97.5 % quantile of the normal distribution.
static constexpr double normalQuantile = 1.959963984540054;

double binomialSum(uint64_t found, uint64_t count, double probability) {
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

Interval wilsonInterval(uint64_t found, uint64_t count) {
  if (count == 0)
    return {0, 1};
  const auto n = static_cast<double>(count);
  const double part = static_cast<double>(found) / n;
  const double square = normalQuantile * normalQuantile;
  const double centre = (part + square / (2 * n)) / (1 + square / n);
  const double margin = normalQuantile / (1 + square / n) *
                        std::sqrt(part * (1 - part) / n + square / (4 * n * n));
  // Rounding must not exclude what was found.
  return {found == 0 ? 0 : std::max(0.0, centre - margin),
          found >= count ? 1 : std::min(1.0, centre + margin)};
}

double mcNemarProbability(uint64_t first, uint64_t second) {
  const uint64_t all = first + second;
  return all == 0 ? 1
                  : std::min(1.0, 2 * binomialSum(std::min(first, second), all,
                                                  0.5));
}

Interval pairedInterval(uint64_t first, uint64_t second, uint64_t count) {
  const double n = static_cast<double>(count) + 2;
  const double a = (static_cast<double>(first) + 1) / n,
               b = (static_cast<double>(second) + 1) / n;
  const double margin =
      normalQuantile * std::sqrt((a + b - (a - b) * (a - b)) / n);
  return {std::max(-1.0, a - b - margin), std::min(1.0, a - b + margin)};
}

} // namespace sinter
