//===- SampleNoise.cpp - confidence bound of the SQNR ---------------------===//

#include "quantize/SampleNoise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace sinter::quantize {

double studentQuantile(size_t freedom) {
  constexpr double few[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895,
                            1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761,
                            1.753, 1.746, 1.740, 1.734, 1.729, 1.725};
  if (freedom <= std::size(few))
    return few[std::max<size_t>(freedom, 1) - 1];
  // The first term of the expansion around the normal distribution.
  constexpr double normal = 1.6449;
  return normal + (normal * normal * normal + normal) /
                      (4 * static_cast<double>(freedom));
}

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
      studentQuantile(noise.size() - 1) *
      std::sqrt(variance / count + variance * variance / (2 * (count - 1)));
  const double most = mean + variance / 2 + margin;
  const double ofThese = std::log(sum / count);
  return 10 / std::log(10.0) *
         (std::log(signal / count) - std::max(most, ofThese));
}

} // namespace sinter::quantize
