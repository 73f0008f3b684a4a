//===- SampleNoise.cpp - confidence bound of the SQNR ---------------------===//

#include "quantize/SampleNoise.h"

#include "metrics/SampledMean.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace sinter::quantize {

void SampleNoise::add(double signalOfOne, double noiseOfOne) {
  signal += signalOfOne;
  noise.push_back(noiseOfOne);
}

std::optional<double> SampleNoise::decibelsOfOthers() const {
  const auto count = static_cast<double>(noise.size());
  if (noise.size() < 2 || !(signal > 0))
    return std::nullopt;
  double sum = 0;
  for (double each : noise)
    sum += each;
  if (sum == 0)
    return std::numeric_limits<double>::infinity();
  // An exact sample by chance does not mean that others differ without bound.
  constexpr double least = 1e-3;
  const double floor = least * sum / count;
  const auto logarithm = [&](double each) {
    return std::log(std::max(each, floor));
  };
  double mean = 0, variance = 0;
  for (double each : noise)
    mean += logarithm(each) / count;
  for (double each : noise)
    variance += (logarithm(each) - mean) * (logarithm(each) - mean);
  variance /= count - 1;
  const double margin =
      studentQuantile(0.95, noise.size() - 1) *
      std::sqrt(variance / count + variance * variance / (2 * (count - 1)));
  const double most = mean + variance / 2 + margin;
  const double ofThese = std::log(sum / count);
  return 10 / std::log(10.0) *
         (std::log(signal / count) - std::max(most, ofThese));
}

} // namespace sinter::quantize
