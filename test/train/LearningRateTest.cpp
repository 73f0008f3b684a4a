#include "train/LearningRate.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(LearningRate, Constant) {
  const RateOptions options{.rate = 0.25};
  EXPECT_EQ(learningRate(options, 0, 10, 0), 0.25);
  EXPECT_EQ(learningRate(options, 9, 10, 3), 0.25);
  EXPECT_FALSE(options.dependsOnEnd());
}

TEST(LearningRate, WarmupRisesToTheRate) {
  const RateOptions options{.rate = 1, .warmup = 4};
  EXPECT_EQ(learningRate(options, 0, 10, 0), 0.25);
  EXPECT_EQ(learningRate(options, 3, 10, 0), 1);
  EXPECT_EQ(learningRate(options, 4, 10, 0), 1);
}

TEST(LearningRate, StepsByEpochs) {
  const RateOptions options{
      .rate = 1, .schedule = Schedule::Step, .stepEpochs = 2, .factor = 0.5};
  EXPECT_EQ(learningRate(options, 5, 100, 1), 1);
  EXPECT_EQ(learningRate(options, 5, 100, 2), 0.5);
  EXPECT_EQ(learningRate(options, 5, 100, 4), 0.25);
}

TEST(LearningRate, CosineAndLinearEndAtZero) {
  RateOptions options{.rate = 1, .schedule = Schedule::Linear};
  EXPECT_TRUE(options.dependsOnEnd());
  EXPECT_EQ(learningRate(options, 0, 8, 0), 1);
  EXPECT_EQ(learningRate(options, 4, 8, 0), 0.5);
  EXPECT_EQ(learningRate(options, 8, 8, 0), 0);
  options.schedule = Schedule::Cosine;
  EXPECT_NEAR(learningRate(options, 4, 8, 0), 0.5, 1e-15);
  EXPECT_NEAR(learningRate(options, 8, 8, 0), 0, 1e-15);
}

} // namespace
} // namespace sinter
