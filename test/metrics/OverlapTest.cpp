#include "metrics/Overlap.h"

#include <cmath>
#include <gtest/gtest.h>

namespace sinter {
namespace {

Tensor map(std::vector<uint8_t> values) {
  return Tensor::of<uint8_t>(
      ElementType::UI8, {1, 1, static_cast<int64_t>(values.size())}, values);
}

TEST(Overlap, OfAllSamplesTogether) {
  Overlap overlap(5);
  // Class 0: 2 of 4, 1: 1 of 3 (both samples), 2: 0 of 1; 3 does not occur.
  overlap.add(map({0, 0, 0, 1}), map({0, 0, 1, 1}), 255);
  overlap.add(map({0, 1, 4}), map({2, 255, 4}), 255);
  const auto classes = overlap.ofClasses();
  EXPECT_NEAR(*classes[0], 2.0 / 4, 1e-12);
  EXPECT_NEAR(*classes[1], 1.0 / 2, 1e-12);
  EXPECT_NEAR(*classes[2], 0, 1e-12);
  EXPECT_FALSE(classes[3]);
  EXPECT_NEAR(*classes[4], 1, 1e-12);
  EXPECT_NEAR(overlap.value(), (0.5 + 0.5 + 0 + 1) / 4, 1e-12);
  EXPECT_EQ(overlap.samples(), 2U);
  const uint32_t firstAlone[] = {1, 0};
  EXPECT_NEAR(overlap.valueOver(firstAlone), (2.0 / 3 + 1.0 / 2) / 2, 1e-12);
}

TEST(Overlap, ClassesOutsideOfTheRangeAreNone) {
  Overlap overlap(2);
  overlap.add(map({7, 1}), map({1, 1}), 255);
  EXPECT_NEAR(*overlap.ofClasses()[1], 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(Overlap(2).value()));
}

} // namespace
} // namespace sinter
