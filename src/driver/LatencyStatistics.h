//===- LatencyStatistics.h - statistics of repeated measurements ----------===//

#ifndef SINTER_DRIVER_LATENCYSTATISTICS_H
#define SINTER_DRIVER_LATENCYSTATISTICS_H

#include <vector>

namespace sinter::driver {

/// In the unit of the samples. Percentiles are interpolated linearly.
struct LatencyStatistics {
  /// Of at least one sample.
  explicit LatencyStatistics(std::vector<double> samples);

  double min = 0, median = 0, mean = 0, p90 = 0, p99 = 0, max = 0;
  /// Coefficient of variation: standard deviation / mean.
  double variation = 0;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_LATENCYSTATISTICS_H
