//===- SampledMean.h - the mean of a quantity over samples ----------------===//

#ifndef SINTER_METRICS_SAMPLEDMEAN_H
#define SINTER_METRICS_SAMPLEDMEAN_H

#include "metrics/SampleMetric.h"

#include <vector>

namespace sinter {

/// What a sample adds to a mean: the sum of some values, and how many they are.
struct SampleValue {
  double sum = 0, weight = 0;
};

/// The mean of all values of all samples. Its interval is Wilson's if each
/// sample is one answer, right or wrong; of Student's distribution if all
/// samples have as many values; else the bootstrap's, which keeps the values of
/// a sample together. Samples without values count for nothing.
class SampledMean : public SampleMetric {
public:
  /// \p countsAnswers: whether sums count right ones among as many answers as
  /// the weight.
  explicit SampledMean(bool countsAnswers) : countsAnswers(countsAnswers) {}

  void add(SampleValue sample) { values.push_back(sample); }
  /// The number of values.
  double weight() const;

  size_t samples() const override { return values.size(); }
  double valueOver(std::span<const uint32_t> times) const override;
  Estimate estimate() const override;
  PairedDifference differenceFrom(const SampleMetric &other) const override;

private:
  enum class Kind { Answers, EqualWeights, Ratio };
  Kind kind() const;
  std::vector<double> meansOfSamples() const;
  PairedDifference differenceOfAnswers(const SampledMean &other) const;

  bool countsAnswers;
  std::vector<SampleValue> values;
};

/// The quantile \p probability, from 0.5 to 0.999, of Student's distribution
/// with
/// \p freedom (>= 1) degrees.
double studentQuantile(double probability, size_t freedom);

} // namespace sinter

#endif // SINTER_METRICS_SAMPLEDMEAN_H
