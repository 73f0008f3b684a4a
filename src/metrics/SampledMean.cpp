//===- SampledMean.cpp - the mean of a quantity over samples --------------===//

#include "metrics/SampledMean.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sinter {

/// The probability that Student's variable with \p freedom degrees is within
/// [-t, t]: the finite series of its distribution function (M. Abramowitz and
/// I. A. Stegun, "Handbook of mathematical functions", 26.7.3 and 26.7.4).
static double studentWithin(double t, size_t freedom) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double square = std::cos(angle) * std::cos(angle);
  const bool isOdd = freedom % 2 == 1;
  double term = isOdd ? std::cos(angle) : 1, sum = 0;
  for (size_t i = isOdd ? 1 : 0; i + 2 <= freedom; i += 2) {
    sum += term;
    term *= square * static_cast<double>(i + 1) / static_cast<double>(i + 2);
  }
  return isOdd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum)
               : std::sin(angle) * sum;
}

double studentQuantile(double probability, size_t freedom) {
  constexpr int steps = 60;
  // Beyond this many degrees the quantile is that of the normal distribution
  // to three digits and more; the series has a term for every other degree.
  freedom = std::clamp<size_t>(freedom, 1, 10000);
  double low = 0, high = 400;
  for (int i = 0; i < steps; ++i) {
    const double middle = (low + high) / 2;
    (studentWithin(middle, freedom) < 2 * probability - 1 ? low : high) =
        middle;
  }
  return high;
}

/// The mean of \p values and half of the width of its interval; nothing for
/// fewer than two values.
static std::optional<Interval>
studentInterval(const std::vector<double> &values) {
  if (values.size() < 2)
    return std::nullopt;
  const auto count = static_cast<double>(values.size());
  double mean = 0, variance = 0;
  for (double each : values)
    mean += each / count;
  for (double each : values)
    variance += (each - mean) * (each - mean) / (count - 1);
  const double margin =
      studentQuantile(0.975, values.size() - 1) * std::sqrt(variance / count);
  return Interval{mean - margin, mean + margin};
}

double SampledMean::weight() const {
  double all = 0;
  for (const SampleValue &each : values)
    all += each.weight;
  return all;
}

double SampledMean::valueOver(std::span<const uint32_t> times) const {
  double sum = 0, weight = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double count = times.empty() ? 1 : times[i];
    // An infinite value of a sample that was not drawn is none.
    if (count == 0 || values[i].weight == 0)
      continue;
    sum += count * values[i].sum;
    weight += count * values[i].weight;
  }
  return weight > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN();
}

SampledMean::Kind SampledMean::kind() const {
  double weight = 0;
  bool areAnswers = countsAnswers;
  for (const SampleValue &each : values) {
    if (each.weight == 0)
      continue;
    if (weight != 0 && each.weight != weight)
      return Kind::Ratio;
    weight = each.weight;
    areAnswers &= weight == 1 && (each.sum == 0 || each.sum == 1);
  }
  return areAnswers ? Kind::Answers : Kind::EqualWeights;
}

std::vector<double> SampledMean::meansOfSamples() const {
  std::vector<double> means;
  for (const SampleValue &each : values)
    if (each.weight != 0)
      means.push_back(each.sum / each.weight);
  return means;
}

Estimate SampledMean::estimate() const {
  const double all = value();
  if (!std::isfinite(all))
    return {all, {}};
  switch (kind()) {
  case Kind::Answers: {
    uint64_t right = 0, count = 0;
    for (const SampleValue &each : values) {
      right += each.sum == 1;
      count += each.weight == 1;
    }
    return {all, wilsonInterval(right, count), "Wilson"};
  }
  case Kind::EqualWeights:
    if (auto interval = studentInterval(meansOfSamples()))
      return {all, interval, "Student"};
    return {all, {}};
  case Kind::Ratio:
    return SampleMetric::estimate();
  }
  return {all, {}};
}

PairedDifference
SampledMean::differenceOfAnswers(const SampledMean &other) const {
  uint64_t first = 0, second = 0, count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    first += values[i].sum > other.values[i].sum;
    second += values[i].sum < other.values[i].sum;
    count += values[i].weight == 1;
  }
  PairedDifference result;
  result.value = value() - other.value();
  result.interval = pairedInterval(first, second, count);
  result.method = "McNemar; adjusted Wald";
  result.answers = {first, second, mcNemarProbability(first, second)};
  return result;
}

PairedDifference
SampledMean::differenceFrom(const SampleMetric &otherMetric) const {
  const auto *other = dynamic_cast<const SampledMean *>(&otherMetric);
  // Both have the same labels, so the same weights.
  const bool arePaired =
      other && std::ranges::equal(values, other->values, {},
                                  &SampleValue::weight, &SampleValue::weight);
  if (!arePaired || kind() == Kind::Ratio)
    return SampleMetric::differenceFrom(otherMetric);
  if (kind() == Kind::Answers && other->kind() == Kind::Answers)
    return differenceOfAnswers(*other);
  PairedDifference result;
  result.value = value() - other->value();
  if (!std::isfinite(result.value))
    return result;
  std::vector<double> differences = meansOfSamples();
  const std::vector<double> others = other->meansOfSamples();
  for (size_t i = 0; i < differences.size(); ++i)
    differences[i] -= others[i];
  result.interval = studentInterval(differences);
  if (result.interval)
    result.method = "paired Student";
  return result;
}

} // namespace sinter
