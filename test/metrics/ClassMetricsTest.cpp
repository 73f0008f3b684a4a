// Covers: metrics ClassMetrics ClassScores

#include "metrics/ClassMetrics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace sinter {
namespace {

Tensor floats(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(ElementType::F32, std::move(shape), values);
}

Tensor labels(Shape shape, std::vector<int64_t> values) {
  return Tensor::of<int64_t>(ElementType::I64, std::move(shape), values);
}

TEST(ClassScores, RowsOfAnyDimension) {
  const Tensor scores = floats({1, 3, 1, 2}, {1, 2, 3, 4, 5, 0});
  const auto rows = ClassScores::forLabels(scores, {1, 1, 2});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->classes(), 3);
  EXPECT_EQ(rows->rows(), 2);
  EXPECT_EQ(rows->top(0), 2);
  EXPECT_EQ(rows->top(1), 1);
  EXPECT_EQ(rows->rankOf(0, 0), 2);
  // The second dimension where both fit, else the last.
  EXPECT_EQ(
      ClassScores::forLabels(floats({2, 4, 4}, std::vector<float>(32)), {2, 4})
          ->rows(),
      8);
  EXPECT_EQ(
      ClassScores::forLabels(floats({2, 5, 3}, std::vector<float>(30)), {2, 5})
          ->classes(),
      3);
  EXPECT_EQ(
      ClassScores::forLabels(floats({2, 5, 1, 1}, std::vector<float>(10)), {2})
          ->classes(),
      5);
  EXPECT_FALSE(ClassScores::forLabels(scores, {1, 2, 1, 7}));
  EXPECT_FALSE(ClassScores::forLabels(floats({3}, {1, 2, 3}), {}));
  EXPECT_FALSE(ClassScores::inRows(labels({1, 2}, {0, 1})));
  EXPECT_FALSE(ClassScores::inRows(floats({4, 1}, {0, 1, 2, 3})));
}

TEST(ClassScores, EqualScoresGoByIndex) {
  const auto rows = ClassScores::inRows(floats({1, 4}, {1, 3, 3, 0}));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->top(0), 1);
  EXPECT_EQ(rows->rankOf(0, 1), 0);
  EXPECT_EQ(rows->rankOf(0, 2), 1);
  EXPECT_EQ(rows->rankOf(0, 3), 3);
}

TEST(ClassScores, NotANumberIsNeverRight) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const auto rows = ClassScores::inRows(floats({1, 3}, {1, none, 0}));
  ASSERT_TRUE(rows);
  EXPECT_TRUE(rows->hasNaN(0));
  for (int64_t label : {0, 1, 2})
    EXPECT_EQ(rows->rankOf(0, label), 3);
}

TEST(TopAnswers, CountsThoseNotIgnored) {
  const Tensor scores = floats({4, 3}, {3, 2, 1, 1, 2, 3, 3, 1, 2, 9, 9, 9});
  const auto rows = ClassScores::inRows(scores);
  const Tensor truth = labels({4}, {0, 0, 2, -100});
  ASSERT_TRUE(checkLabels(truth, 3, -100));
  const SampleValue one = topAnswers(*rows, truth, 1, -100),
                    two = topAnswers(*rows, truth, 2, -100);
  EXPECT_EQ(one.sum, 1);
  EXPECT_EQ(one.weight, 3);
  EXPECT_EQ(two.sum, 2);
  EXPECT_EQ(topAnswers(*rows, truth, 3, -100).sum, 3);
}

TEST(CheckLabels, RefusesWhatIsNoClass) {
  for (int64_t wrong : {-1, 3}) {
    const Result<void> good = checkLabels(labels({2}, {0, wrong}), 3, -100);
    ASSERT_FALSE(good);
    EXPECT_NE(good.error().message().find(std::to_string(wrong)),
              std::string::npos);
  }
  EXPECT_FALSE(checkLabels(floats({1}, {0}), 3, -100));
}

// The values are those of the definition, -log(exp(x_l) / sum exp(x)).
TEST(CrossEntropy, OfLogits) {
  CrossEntropy loss({});
  const auto rows = ClassScores::inRows(floats({2, 3}, {1, 2, 3, 1000, 0, 0}));
  loss.add(*rows, labels({2}, {0, 0}), -100);
  EXPECT_FALSE(loss.areProbabilities());
  const double first = -std::log(
      std::exp(1.0) / (std::exp(1.0) + std::exp(2.0) + std::exp(3.0)));
  EXPECT_NEAR(loss.value(), first / 2, 1e-12);
}

TEST(CrossEntropy, OfProbabilities) {
  const auto rows =
      ClassScores::inRows(floats({2, 2}, {0.25F, 0.75F, 0.5F, 0.5F}));
  const Tensor truth = labels({2}, {0, 1});
  CrossEntropy loss({}), logits(false);
  loss.add(*rows, truth, -100);
  logits.add(*rows, truth, -100);
  EXPECT_TRUE(loss.areProbabilities());
  EXPECT_NEAR(loss.value(), (std::log(4.0) + std::log(2.0)) / 2, 1e-12);
  EXPECT_NEAR(logits.value(), (std::log1p(std::exp(0.5)) + std::log(2.0)) / 2,
              1e-12);
  // A row that is no distribution: all are logits.
  loss.add(*ClassScores::inRows(floats({1, 2}, {1, 3})), labels({1}, {1}),
           -100);
  EXPECT_FALSE(loss.areProbabilities());
  EXPECT_NEAR(
      loss.value(),
      (std::log1p(std::exp(0.5)) + std::log(2.0) + std::log1p(std::exp(-2.0))) /
          3,
      1e-12);
  CrossEntropy none({});
  none.add(*ClassScores::inRows(floats({1, 2}, {0, 1})), labels({1}, {0}),
           -100);
  EXPECT_TRUE(std::isinf(none.value()));
}

TEST(ErrorsOf, Elements) {
  const Tensor got = floats({1, 2}, {1, -2}), wanted = floats({1, 2}, {3, 1});
  EXPECT_EQ(errorsOf(got, wanted).sum, 13);
  EXPECT_EQ(errorsOf(got, wanted).weight, 2);
  EXPECT_EQ(errorsOf(got, wanted, /*areAbsolute=*/true).sum, 5);
}

TEST(ToProbabilities, LeavesDistributions) {
  std::vector<double> values = {0.5, 0.25, 0.25}, logits = {0, std::log(3.0)};
  toProbabilities(values);
  EXPECT_EQ(values[0], 0.5);
  toProbabilities(logits);
  EXPECT_NEAR(logits[1], 0.75, 1e-12);
}

} // namespace
} // namespace sinter
