// Covers: metrics SampledMean SampleMetric

#include "metrics/SampledMean.h"

#include <cmath>
#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(StudentQuantile, OfTheTables) {
  EXPECT_NEAR(studentQuantile(0.975, 1), 12.706, 1e-3);
  EXPECT_NEAR(studentQuantile(0.975, 2), 4.303, 1e-3);
  EXPECT_NEAR(studentQuantile(0.975, 5), 2.571, 1e-3);
  EXPECT_NEAR(studentQuantile(0.975, 10), 2.228, 1e-3);
  EXPECT_NEAR(studentQuantile(0.975, 29), 2.045, 1e-3);
  EXPECT_NEAR(studentQuantile(0.975, 120), 1.980, 1e-3);
  EXPECT_NEAR(studentQuantile(0.975, 1000000), 1.960, 1e-3);
}

TEST(StudentQuantile, OfOneSide) {
  EXPECT_NEAR(studentQuantile(0.95, 1), 6.314, 1e-3);
  EXPECT_NEAR(studentQuantile(0.95, 20), 1.725, 1e-3);
  EXPECT_NEAR(studentQuantile(0.95, 60), 1.671, 1e-3);
  EXPECT_NEAR(studentQuantile(0.95, 100000), 1.645, 1e-3);
  EXPECT_NEAR(studentQuantile(0.5, 7), 0, 1e-9);
  for (size_t i = 1; i < 100; ++i)
    EXPECT_GT(studentQuantile(0.95, i), studentQuantile(0.95, i + 1)) << i;
}

TEST(SampledMean, AnswersHaveWilsonsInterval) {
  SampledMean mean(/*countsAnswers=*/true);
  for (int i = 0; i < 263; ++i)
    mean.add({i < 81 ? 1.0 : 0.0, 1});
  mean.add({0, 0});
  const Estimate estimate = mean.estimate();
  EXPECT_DOUBLE_EQ(estimate.value, 81.0 / 263);
  ASSERT_TRUE(estimate.interval);
  EXPECT_EQ(estimate.method, "Wilson");
  EXPECT_NEAR(estimate.interval->low, 0.2553, 5e-5);
}

TEST(SampledMean, ValuesHaveStudentsInterval) {
  SampledMean mean(/*countsAnswers=*/false);
  for (double each : {1.0, 2.0, 3.0, 4.0})
    mean.add({2 * each, 2});
  const Estimate estimate = mean.estimate();
  EXPECT_DOUBLE_EQ(estimate.value, 2.5);
  ASSERT_TRUE(estimate.interval);
  // 3.1824 sqrt(5 / 3 / 4), the quantile of three degrees.
  EXPECT_NEAR(estimate.interval->high, 2.5 + 3.18245 * std::sqrt(5.0 / 12),
              1e-4);
  SampledMean one(/*countsAnswers=*/false);
  one.add({1, 1});
  EXPECT_FALSE(one.estimate().interval);
}

TEST(SampledMean, RatiosAreResampledBySample) {
  SampledMean mean(/*countsAnswers=*/true);
  for (int i = 0; i < 50; ++i)
    mean.add({i % 2 == 0 ? 4.0 : 0.0, i % 2 == 0 ? 4.0 : 2.0});
  const Estimate estimate = mean.estimate();
  EXPECT_DOUBLE_EQ(estimate.value, 2.0 / 3);
  EXPECT_EQ(estimate.method, "percentile bootstrap");
  ASSERT_TRUE(estimate.interval);
  // sum - ratio * weight is 4/3 or -4/3, and the mean weight 3: a standard
  // deviation of 4/9 of the root of 50.
  EXPECT_NEAR(estimate.interval->low, 2.0 / 3 - 2 * 0.063, 0.03);
  EXPECT_NEAR(estimate.interval->high, 2.0 / 3 + 2 * 0.063, 0.03);
  const Estimate again = mean.estimate();
  EXPECT_EQ(again.interval->low, estimate.interval->low);
}

TEST(SampledMean, InfinityHasNoInterval) {
  SampledMean mean(/*countsAnswers=*/false);
  mean.add({INFINITY, 1});
  mean.add({1, 1});
  EXPECT_TRUE(std::isinf(mean.estimate().value));
  EXPECT_FALSE(mean.estimate().interval);
  EXPECT_TRUE(std::isnan(SampledMean(true).value()));
}

TEST(SampledMean, PairedAnswersAreMcNemars) {
  SampledMean one(true), other(true);
  const auto add = [&](double a, double b, int times) {
    for (int i = 0; i < times; ++i) {
      one.add({a, 1});
      other.add({b, 1});
    }
  };
  add(1, 1, 80);
  add(1, 0, 1);
  add(0, 1, 6);
  add(0, 0, 13);
  const PairedDifference difference = one.differenceFrom(other);
  EXPECT_NEAR(difference.value, -0.05, 1e-12);
  ASSERT_TRUE(difference.answers);
  EXPECT_EQ(difference.answers->onlyFirst, 1U);
  EXPECT_EQ(difference.answers->onlySecond, 6U);
  EXPECT_NEAR(difference.answers->probability, 0.125, 1e-12);
  ASSERT_TRUE(difference.interval);
  EXPECT_LT(difference.interval->low, -0.05);
  EXPECT_GT(difference.interval->high, -0.05);
}

TEST(SampledMean, PairedValuesAreThoseOfTheirDifferences) {
  SampledMean one(false), other(false), differences(false);
  for (int i = 0; i < 6; ++i) {
    one.add({i * 1.0, 1});
    other.add({i * 0.5 + 1, 1});
    differences.add({i * 0.5 - 1, 1});
  }
  const PairedDifference difference = one.differenceFrom(other);
  const Estimate wanted = differences.estimate();
  EXPECT_NEAR(difference.value, wanted.value, 1e-12);
  EXPECT_NEAR(difference.interval->low, wanted.interval->low, 1e-12);
  EXPECT_EQ(difference.method, "paired Student");
  EXPECT_FALSE(difference.answers);
}

TEST(BootstrapInterval, NeedsTwoSamplesWithValues) {
  EXPECT_FALSE(bootstrapInterval(1, 100, [](auto) { return 1.0; }));
  EXPECT_FALSE(bootstrapInterval(5, 100, [](auto) { return NAN; }));
  const auto same = bootstrapInterval(5, 100, [](std::span<const uint32_t> n) {
    uint32_t all = 0;
    for (uint32_t each : n)
      all += each;
    return static_cast<double>(all);
  });
  ASSERT_TRUE(same);
  EXPECT_EQ(same->low, 5);
  EXPECT_EQ(same->high, 5);
}

} // namespace
} // namespace sinter
