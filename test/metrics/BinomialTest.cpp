// The bounds against published tables.

#include "metrics/Binomial.h"

#include <cmath>
#include <gtest/gtest.h>

namespace sinter {
namespace {

// Of tables of Clopper and Pearson's intervals, one-sided.
TEST(BinomialTest, BoundsAreThoseOfTheTables) {
  EXPECT_NEAR(upperBinomialBound(0, 10, 0.05), 0.2589, 1e-4);
  EXPECT_NEAR(upperBinomialBound(1, 10, 0.05), 0.3942, 1e-4);
  EXPECT_NEAR(upperBinomialBound(5, 20, 0.05), 0.4556, 1e-4);
  EXPECT_NEAR(lowerBinomialBound(5, 20, 0.05), 0.1041, 1e-4);
  EXPECT_NEAR(lowerBinomialBound(1, 10, 0.05), 0.0051, 1e-4);
  EXPECT_NEAR(upperBinomialBound(0, 100000, 0.1), 2.3026e-5, 1e-8);
  EXPECT_NEAR(lowerBinomialBound(50000, 100000, 0.01), 0.49632, 1e-5);
}

TEST(BinomialTest, BoundsAtTheEnds) {
  EXPECT_EQ(upperBinomialBound(7, 7, 0.1), 1);
  EXPECT_EQ(lowerBinomialBound(0, 7, 0.1), 0);
  EXPECT_NEAR(lowerBinomialBound(7, 7, 0.1), std::pow(0.1, 1 / 7.0), 1e-9);
}

// R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
// 1998, table I, method 3.
TEST(BinomialTest, WilsonOfNewcombesTable) {
  const struct {
    uint64_t found, count;
    double low, high;
  } rows[] = {{81, 263, 0.2553, 0.3662},
              {15, 148, 0.0624, 0.1605},
              {0, 20, 0, 0.1611},
              {1, 29, 0.0061, 0.1718}};
  for (const auto &row : rows) {
    const Interval interval = wilsonInterval(row.found, row.count);
    EXPECT_NEAR(interval.low, row.low, 5e-5) << row.found;
    EXPECT_NEAR(interval.high, row.high, 5e-5) << row.found;
  }
  EXPECT_EQ(wilsonInterval(0, 5).low, 0);
  EXPECT_EQ(wilsonInterval(5, 5).high, 1);
  EXPECT_EQ(wilsonInterval(0, 0).high, 1);
}

TEST(BinomialTest, McNemarCountsTheTails) {
  // 2 (1 + 7) / 2^7.
  EXPECT_NEAR(mcNemarProbability(1, 6), 0.125, 1e-12);
  EXPECT_NEAR(mcNemarProbability(6, 1), 0.125, 1e-12);
  EXPECT_NEAR(mcNemarProbability(0, 10), 2.0 / 1024, 1e-12);
  EXPECT_EQ(mcNemarProbability(3, 3), 1);
  EXPECT_EQ(mcNemarProbability(0, 0), 1);
}

TEST(BinomialTest, PairedIntervalByItsFormula) {
  const double a = 13.0 / 102, b = 6.0 / 102;
  const double margin =
      1.959963984540054 * std::sqrt((a + b - (a - b) * (a - b)) / 102);
  const Interval interval = pairedInterval(12, 5, 100);
  EXPECT_NEAR(interval.low, a - b - margin, 1e-12);
  EXPECT_NEAR(interval.high, a - b + margin, 1e-12);
  EXPECT_GE(pairedInterval(0, 1, 1).low, -1);
}

} // namespace
} // namespace sinter
