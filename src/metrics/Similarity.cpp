//===- Similarity.cpp - SQNR and cosine of two tensors --------------------===//

#include "metrics/Similarity.h"

#include <cmath>
#include <limits>

namespace sinter {

/// Calls \p use with each pair of elements of which the first is finite.
template <typename Use>
static void forFinite(const Tensor &expected, const Tensor &got, Use use) {
  if (!isFloat(expected.type()) || expected.shape() != got.shape())
    return;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (const double want = expected.toDouble(i); std::isfinite(want))
      use(want, got.toDouble(i));
}

void SignalToNoise::add(const Tensor &expected, const Tensor &got) {
  forFinite(expected, got, [&](double want, double have) {
    signal += want * want;
    noise += (want - have) * (want - have);
  });
}

std::optional<double> SignalToNoise::decibels() const {
  if (!(signal > 0))
    return std::nullopt;
  if (noise == 0)
    return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

void Cosine::add(const Tensor &expected, const Tensor &got) {
  forFinite(expected, got, [&](double want, double have) {
    hasElements = true;
    product += want * have;
    first += want * want;
    second += have * have;
  });
}

std::optional<double> Cosine::value() const {
  if (!hasElements)
    return std::nullopt;
  if (first > 0 && second > 0)
    return product / std::sqrt(first * second);
  return first == second ? 1 : 0;
}

} // namespace sinter
