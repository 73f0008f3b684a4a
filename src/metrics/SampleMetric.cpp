//===- SampleMetric.cpp - a metric over samples, with its confidence ------===//

#include "metrics/SampleMetric.h"

#include "runtime/Random.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sinter {

static constexpr std::string_view bootstrapMethod = "percentile bootstrap";

/// The quantile \p part of sorted values, interpolated linearly.
static double quantileOf(std::span<const double> sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Interval> bootstrapInterval(
    size_t samples, unsigned resamples,
    const std::function<double(std::span<const uint32_t> times)> &statistic) {
  constexpr uint64_t seed = 0x5EED;
  constexpr double missed = 0.05;
  if (samples < 2)
    return std::nullopt;
  std::vector<double> values;
  std::vector<uint32_t> times(samples);
  for (unsigned i = 0; i < resamples; ++i) {
    std::ranges::fill(times, 0U);
    const uint64_t own = splitMix(seed, i);
    for (size_t draw = 0; draw < samples; ++draw)
      ++times[splitMix(own, draw) % samples];
    if (const double value = statistic(times); std::isfinite(value))
      values.push_back(value);
  }
  if (values.empty() || values.size() < resamples / 2)
    return std::nullopt;
  std::ranges::sort(values);
  return Interval{quantileOf(values, missed / 2),
                  quantileOf(values, 1 - missed / 2)};
}

Estimate SampleMetric::estimate() const {
  Estimate result{value(), {}};
  if (!std::isfinite(result.value))
    return result;
  result.interval = bootstrapInterval(
      samples(), resamples(),
      [&](std::span<const uint32_t> times) { return valueOver(times); });
  if (result.interval)
    result.method = bootstrapMethod;
  return result;
}

PairedDifference SampleMetric::differenceFrom(const SampleMetric &other) const {
  PairedDifference result;
  result.value = value() - other.value();
  if (!std::isfinite(result.value))
    return result;
  result.interval = bootstrapInterval(
      samples(), resamples(), [&](std::span<const uint32_t> times) {
        return valueOver(times) - other.valueOver(times);
      });
  if (result.interval)
    result.method = "paired percentile bootstrap";
  return result;
}

} // namespace sinter
