//===- LatencyStatistics.cpp - statistics of repeated measurements --------===//

#include "driver/LatencyStatistics.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

LatencyStatistics::LatencyStatistics(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto percentile = [&](double part) {
    const double place = part * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, samples.size() - 1);
    return std::lerp(samples[below], samples[above], place - std::floor(place));
  };
  min = samples.front();
  max = samples.back();
  median = percentile(0.5);
  p90 = percentile(0.9);
  p99 = percentile(0.99);
  const auto count = static_cast<double>(samples.size());
  for (double sample : samples)
    mean += sample / count;
  double squares = 0;
  for (double sample : samples)
    squares += (sample - mean) * (sample - mean);
  if (samples.size() > 1 && mean > 0)
    variation = std::sqrt(squares / (count - 1)) / mean;
}

} // namespace sinter::driver
