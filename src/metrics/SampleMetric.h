//===- SampleMetric.h - a metric over samples, with its confidence --------===//

#ifndef SINTER_METRICS_SAMPLEMETRIC_H
#define SINTER_METRICS_SAMPLEMETRIC_H

#include "metrics/Binomial.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace sinter {

/// A value and its 95 % confidence interval, if there are samples enough.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval;
  /// How the interval was computed; empty without one.
  std::string_view method = "";
};

/// The difference of a metric between two models on the same samples: the
/// first's less the second's.
struct PairedDifference : Estimate {
  /// For right and wrong answers: how many only the first and only the second
  /// gave right, and the probability of such a split if both are as accurate.
  struct Answers {
    uint64_t onlyFirst = 0, onlySecond = 0;
    double probability = 1;
  };
  std::optional<Answers> answers;
};

/// A metric that accumulates samples. Those of a sample stay together when
/// samples are resampled.
class SampleMetric {
public:
  virtual ~SampleMetric() = default;

  virtual size_t samples() const = 0;
  /// Its value if each sample occurred that many times; none: once each. NaN
  /// where it has no value.
  virtual double valueOver(std::span<const uint32_t> times) const = 0;
  double value() const { return valueOver({}); }

  /// The value with its interval: by the percentile bootstrap (B. Efron,
  /// "Bootstrap methods: another look at the jackknife", 1979), unless a
  /// metric has a better one.
  virtual Estimate estimate() const;
  /// The same for the difference from \p other, which has the same samples in
  /// the same order.
  virtual PairedDifference differenceFrom(const SampleMetric &other) const;

protected:
  /// How many resamples the bootstrap takes.
  virtual unsigned resamples() const { return 1000; }
};

/// The interval from the 2.5 % to the 97.5 % quantile of \p statistic over
/// resamples of \p samples samples, which are drawn with a fixed seed; nothing
/// for fewer than two samples, or if fewer than half of the resamples have a
/// finite value.
std::optional<Interval> bootstrapInterval(
    size_t samples, unsigned resamples,
    const std::function<double(std::span<const uint32_t> times)> &statistic);

} // namespace sinter

#endif // SINTER_METRICS_SAMPLEMETRIC_H
