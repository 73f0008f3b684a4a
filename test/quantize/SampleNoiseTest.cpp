// The bound against draws of populations whose noise is known.

#include "quantize/SampleNoise.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace sinter::quantize {
namespace {

TEST(SampleNoises, OneSampleTellsNothing) {
  SampleNoise noise;
  EXPECT_FALSE(noise.decibelsOfOthers());
  noise.add(100, 1);
  EXPECT_FALSE(noise.decibelsOfOthers());
  noise.add(100, 1);
  EXPECT_NEAR(*noise.decibelsOfOthers(), 20, 1e-9);
}

TEST(SampleNoises, NothingOffAndNoSignal) {
  SampleNoise exact;
  exact.add(1, 0);
  exact.add(2, 0);
  EXPECT_TRUE(std::isinf(*exact.decibelsOfOthers()));
  SampleNoise empty;
  empty.add(0, 0);
  empty.add(0, 1);
  EXPECT_FALSE(empty.decibelsOfOthers());
}

TEST(SampleNoises, AnExactSampleIsNoReasonForALargeMargin) {
  SampleNoise noise;
  for (int i = 0; i < 9; ++i)
    noise.add(100, 1);
  noise.add(100, 0);
  EXPECT_GT(*noise.decibelsOfOthers(), 0);
  EXPECT_LE(*noise.decibelsOfOthers(), 10 * std::log10(1000 / 9.0));
}

/// How often others have more noise than the bound says, of \p draws.
double missed(double deviation, int count, int draws, bool isMean) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> draw(0, deviation);
  const double mean = std::exp(deviation * deviation / 2);
  const double truth = 10 * std::log10(100 / mean);
  int times = 0;
  for (int i = 0; i < draws; ++i) {
    SampleNoise noise;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      const double one = draw(random);
      noise.add(100, one);
      sum += one;
    }
    const double bound = isMean ? 10 * std::log10(100 / (sum / count))
                                : *noise.decibelsOfOthers();
    times += truth < bound;
  }
  return static_cast<double>(times) / draws;
}

// The ratio of few samples itself is too good more often than not.
TEST(SampleNoises, OthersHaveNoMore) {
  for (double deviation : {0.1, 0.5, 1.0, 1.5})
    for (int count : {2, 4, 10, 40}) {
      EXPECT_LT(missed(deviation, count, 2000, false), 0.15)
          << deviation << " " << count;
      EXPECT_GT(missed(deviation, count, 2000, true), 0.45)
          << deviation << " " << count;
    }
}

// Nor is it much too low where samples are alike or many.
TEST(SampleNoises, TheMarginIsThatOfTheSpread) {
  const auto margin = [](double deviation, int count) {
    std::mt19937 random(3);
    std::lognormal_distribution<double> draw(0, deviation);
    SampleNoise noise;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double one = draw(random);
      noise.add(100, one);
      sum += one;
    }
    return 10 * std::log10(100 * count / sum) - *noise.decibelsOfOthers();
  };
  EXPECT_LT(margin(0.1, 10), 0.5);
  EXPECT_LT(margin(0.7, 100), 1);
  EXPECT_GT(margin(0.7, 5), margin(0.7, 100));
}

} // namespace
} // namespace sinter::quantize
