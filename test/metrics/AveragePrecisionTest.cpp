// Covers: metrics AveragePrecision Boxes

#include "metrics/AveragePrecision.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace sinter {
namespace {

Box square(double left, double top, double side) {
  return {left, top, left + side, top + side};
}

TEST(Box, Overlaps) {
  EXPECT_EQ(square(0, 0, 2).area(), 4);
  EXPECT_EQ((Box{3, 0, 1, 2}).area(), 0);
  EXPECT_EQ(intersectionOf(square(0, 0, 2), square(1, 1, 2)), 1);
  EXPECT_NEAR(overlapOf(square(0, 0, 2), square(1, 1, 2)), 1.0 / 7, 1e-12);
  EXPECT_EQ(overlapOf(square(0, 0, 1), square(5, 5, 1)), 0);
  EXPECT_EQ(overlapOf({}, {}), 0);
}

TEST(Suppressed, KeepsTheBestOfEachClass) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Detection> kept = suppressed({{square(0, 0, 10), 0.5, 1},
                                                  {square(1, 0, 10), 0.9, 1},
                                                  {square(1, 0, 10), 0.4, 2},
                                                  {square(20, 0, 10), 0.3, 1},
                                                  {square(40, 0, 10), none, 1}},
                                                 0.5, 10);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].score, 0.9);
  EXPECT_EQ(kept[1].label, 2);
  EXPECT_EQ(kept[2].score, 0.3);
  EXPECT_EQ(
      suppressed({{square(0, 0, 1), 1, 0}, {square(5, 0, 1), 1, 0}}, 0.5, 1)
          .size(),
      1U);
}

TEST(AveragePrecision, PerfectAndNone) {
  AveragePrecision all;
  all.add({{square(0, 0, 10), 0.9, 3}}, {{square(0, 0, 10), 3}});
  EXPECT_NEAR(all.value(), 1, 1e-12);
  EXPECT_NEAR(all.atHalf(), 1, 1e-12);
  AveragePrecision nothing;
  nothing.add({}, {{square(0, 0, 10), 3}});
  EXPECT_EQ(nothing.value(), 0);
  EXPECT_TRUE(std::isnan(AveragePrecision().value()));
  // Detections of a class that the truth lacks are of no class that counts.
  all.add({{square(0, 0, 10), 0.9, 5}}, {});
  EXPECT_NEAR(all.value(), 1, 1e-12);
  EXPECT_EQ(all.ofClasses().size(), 1U);
}

TEST(AveragePrecision, ByItsDefinition) {
  AveragePrecision all;
  // By score: right, wrong, right; of three true boxes.
  all.add({{square(0, 0, 10), 0.9, 0}, {square(50, 0, 10), 0.8, 0}},
          {{square(0, 0, 10), 0}, {square(100, 0, 10), 0}});
  all.add({{square(0, 0, 10), 0.7, 0}}, {{square(0, 0, 10), 0}});
  // Recall 1/3 at precision 1 (34 points, 0 to 0.33), then 2/3 at 2/3 (33
  // points, 0.34 to 0.66), then none.
  EXPECT_NEAR(all.atHalf(), (34 * 1 + 33 * (2.0 / 3)) / 101, 1e-12);
  EXPECT_NEAR(all.value(), all.atHalf(), 1e-12);
}

TEST(AveragePrecision, EachTrueBoxIsFoundOnce) {
  AveragePrecision all;
  all.add({{square(0, 0, 10), 0.9, 0}, {square(0, 0, 10), 0.8, 0}},
          {{square(0, 0, 10), 0}, {square(30, 0, 10), 0}});
  // The second is wrong: 51 points at precision 1.
  EXPECT_NEAR(all.atHalf(), 51.0 / 101, 1e-12);
}

TEST(AveragePrecision, OverlapsCountByThreshold) {
  AveragePrecision all;
  // The overlap is 82 of 100: right at 0.5 to 0.8, 7 of 10.
  all.add({{{0, 0, 10, 8.2}, 0.9, 0}}, {{square(0, 0, 10), 0}});
  EXPECT_NEAR(all.value(), 0.7, 1e-12);
  EXPECT_NEAR(all.atHalf(), 1, 1e-12);
}

TEST(AveragePrecision, BoxesInCrowdsCountForNothing) {
  AveragePrecision all;
  all.add({{square(0, 0, 10), 0.9, 0},
           {square(100, 100, 5), 0.95, 0},
           {square(110, 110, 5), 0.94, 0}},
          {{square(0, 0, 10), 0}, {square(90, 90, 100), 0, true}});
  EXPECT_NEAR(all.value(), 1, 1e-12);
}

TEST(AveragePrecision, ResamplesWholeImages) {
  AveragePrecision all;
  for (int i = 0; i < 20; ++i)
    all.add({{square(i % 2 == 0 ? 0 : 50, 0, 10), 0.5, 0}},
            {{square(0, 0, 10), 0}});
  const uint32_t good[20] = {1}, bad[20] = {0, 1};
  EXPECT_NEAR(all.valueOver(good), 1, 1e-12);
  EXPECT_NEAR(all.valueOver(bad), 0, 1e-12);
  const Estimate estimate = all.estimate();
  ASSERT_TRUE(estimate.interval);
  EXPECT_LT(estimate.interval->low, estimate.value);
  EXPECT_GT(estimate.interval->high, estimate.value);
}

} // namespace
} // namespace sinter
