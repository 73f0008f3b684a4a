//===- ChangedAnswers.cpp - upper bound of the loss of accuracy -----------===//

#include "quantize/ChangedAnswers.h"

#include "metrics/Binomial.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::quantize {

// Together they miss in 10 % of cases.
static constexpr double upperMissed = 0.09, lowerMissed = 0.01;

void ChangedAnswers::add(bool wasRight, bool isRight) {
  ++count;
  toWrong += wasRight && !isRight;
  toRight += !wasRight && isRight;
}

std::optional<double> ChangedAnswers::lossOfOthers() const {
  if (count == 0)
    return std::nullopt;
  const double most = upperBinomialBound(toWrong, count, upperMissed) -
                      lowerBinomialBound(toRight, count, lowerMissed);
  const double ofThese =
      (static_cast<double>(toWrong) - static_cast<double>(toRight)) /
      static_cast<double>(count);
  return std::max(most, ofThese);
}

uint64_t ChangedAnswers::samplesFor(double part) {
  if (part <= 0)
    return std::numeric_limits<uint64_t>::max();
  if (part >= 1)
    return 1;
  return static_cast<uint64_t>(
      std::ceil(std::log(upperMissed) / std::log1p(-part)));
}

} // namespace sinter::quantize
