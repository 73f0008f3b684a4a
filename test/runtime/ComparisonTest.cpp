#include "runtime/Comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace sinter;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor floats(const std::vector<float> &values) {
  return Tensor::of<float>(ElementType::F32,
                           {static_cast<int64_t>(values.size())}, values);
}

bool holds(const std::vector<float> &got, const std::vector<float> &expected,
           const Expectation &expectation) {
  return static_cast<bool>(expect(floats(got), floats(expected), expectation));
}

TEST(ComparisonTest, EqualIsEqualAsNumbers) {
  EXPECT_TRUE(
      holds({1, -0.0f, infinity}, {1, 0, infinity}, Expectation::equal()));
  EXPECT_FALSE(holds({nan}, {nan}, Expectation::equal()));
  EXPECT_FALSE(holds({1}, {1.0000001f}, Expectation::equal()));
}

TEST(ComparisonTest, AlmostIsAbsolute) {
  EXPECT_TRUE(holds({nan, infinity, 1.0f}, {nan, infinity, 1.00009f},
                    Expectation::almost(1e-4)));
  EXPECT_FALSE(holds({1.0f}, {1.0002f}, Expectation::almost(1e-4)));
  EXPECT_FALSE(holds({infinity}, {-infinity}, Expectation::almost(1e-4)));
  EXPECT_FALSE(holds({infinity}, {1.0f}, Expectation::almost(1e300)));
  EXPECT_FALSE(holds({nan}, {1.0f}, Expectation::almost(1e300)));
}

TEST(ComparisonTest, CloseCountsRepresentableValues) {
  const float next = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(ulpDistance(floats({1}), floats({next}), 0), 1u);
  EXPECT_EQ(ulpDistance(floats({0}), floats({-0.0f}), 0), 0u);
  EXPECT_EQ(ulpDistance(floats({-1e-45f}), floats({1e-45f}), 0), 2u);
  EXPECT_EQ(ulpDistance(floats({nan}), floats({-nan}), 0), 0u);
  EXPECT_EQ(ulpDistance(floats({nan}), floats({1}), 0), UINT64_MAX);
  EXPECT_EQ(ulpDistance(floats({infinity}), floats({-infinity}), 0),
            UINT64_MAX);
  EXPECT_TRUE(holds({next}, {1}, Expectation::close(1, 1)));
  EXPECT_FALSE(holds({1}, {1}, Expectation::close(1, 1)));
  EXPECT_TRUE(holds({nan}, {1}, Expectation::close(UINT64_MAX, UINT64_MAX)));
}

TEST(ComparisonTest, ComplexNumbersAreAsFarAsTheirWorstPart) {
  const std::vector<float> one = {1, 2, 3, 4};
  std::vector<float> other = one;
  other[3] = std::nextafter(std::nextafter(4.0f, 5.0f), 5.0f);
  const Tensor a = Tensor::of<float>(ElementType::C64, {2}, one);
  const Tensor b = Tensor::of<float>(ElementType::C64, {2}, other);
  EXPECT_EQ(ulpDistance(a, b, 0), 0u);
  EXPECT_EQ(ulpDistance(a, b, 1), 2u);
  EXPECT_TRUE(expect(a, b, Expectation::close(0, 3)));
  EXPECT_FALSE(expect(a, b, Expectation::close(0, 1)));
  EXPECT_FALSE(expect(a, b, Expectation::equal()));
}

TEST(ComparisonTest, TheMessageNamesTheWorstValue) {
  const Result<void> result =
      expect(floats({1, 2, 3}), floats({1, 4, 9}), Expectation::almost(0.5));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::WrongResult);
  EXPECT_EQ(result.error().message(),
            "2 of 3 values differ, most at [2]: got 3, expected 9, tolerance "
            "0.5");
  EXPECT_FALSE(expect(floats({1}), floats({1, 1}), Expectation::equal()));
}

/// The difference of rows of f32.
Difference difference(const std::vector<float> &got,
                      const std::vector<float> &expected,
                      const Tolerance &tolerance) {
  return differenceOf(floats(got), floats(expected),
                      Expectation::within(tolerance));
}

TEST(ComparisonTest, AToleranceIsAbsoluteRelativeAndOfTheRange) {
  const std::vector<float> expected = {1, -100, 0};
  EXPECT_EQ(difference({1.5f, -100, 0}, expected, {0, 0.25, 0}).wrong, 1);
  EXPECT_EQ(difference({1.5f, -100, 0}, expected, {0, 0.5, 0}).wrong, 0);
  EXPECT_EQ(difference({1.5f, -100, 0}, expected, {0.5, 0, 0}).wrong, 0);
  EXPECT_EQ(difference({1, -101, 1}, expected, {0.01, 0, 0}).wrong, 1);
  EXPECT_EQ(difference({1.5f, -101, 1}, expected, {0, 0, 0.01}).wrong, 0);
  EXPECT_EQ(difference({1.5f, -101, 1}, expected, {0, 0, 0.009}).wrong, 2);
  // An infinity is no part of the range.
  EXPECT_EQ(difference({1.5f, infinity}, {1, infinity}, {0, 0, 0.1}).wrong, 1);
}

TEST(ComparisonTest, SpecialValuesAreOnlyLikeThemselves) {
  const Tolerance wide{1e30, 1e30, 0};
  EXPECT_EQ(
      difference({nan, infinity, -infinity}, {nan, infinity, -infinity}, wide)
          .wrong,
      0);
  for (const float got : {nan, infinity, -infinity})
    for (const float expected : {1.0f, 3e38f, nan, infinity, -infinity})
      if (got != expected && !(std::isnan(got) && std::isnan(expected))) {
        const Difference found = difference({0, got}, {0, expected}, wide);
        EXPECT_EQ(found.wrong, 1) << got << " " << expected;
        EXPECT_EQ(found.worst, 1);
        EXPECT_EQ(found.largest, infinity);
      }
}

TEST(ComparisonTest, TheWorstIsTheFurthestBeyondItsTolerance) {
  // 10 is further from 1000, but within a tenth of it.
  const Difference found =
      difference({990, 0, 1.5f, 1.25f}, {1000, 0, 1, 1}, {0.1, 0, 0});
  EXPECT_EQ(found.wrong, 2);
  EXPECT_EQ(found.worst, 2);
  EXPECT_EQ(found.furthest, 0);
  EXPECT_EQ(found.largest, 10);
  EXPECT_EQ(found.magnitude, 1000);
  EXPECT_EQ(found.ofRange(), 0.01);
}

TEST(ComparisonTest, NothingDiffersInNothing) {
  const Difference found = difference({}, {}, {});
  EXPECT_EQ(found.wrong, 0);
  EXPECT_EQ(found.ofRange(), 0);
  // All of the expected are 0, so there is no range.
  EXPECT_EQ(difference({1}, {0}, {}).ofRange(), infinity);
}

TEST(ComparisonTest, IntegersAreComparedExactly) {
  const auto integers = [](ElementType type, std::vector<int64_t> values) {
    return Tensor::of<int64_t>(type, {static_cast<int64_t>(values.size())},
                               values);
  };
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  // No double tells these apart.
  const Tensor a = integers(ElementType::I64, {(1LL << 60) + 1, -1});
  const Tensor b = integers(ElementType::I64, {1LL << 60, -1});
  const Difference found = differenceOf(a, b, Expectation::within({1, 0, 1}));
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.largest, 1);
  EXPECT_EQ(differenceOf(a, b, Expectation::within({0, 1, 0})).wrong, 0);
  // From one end to the other, signed and unsigned.
  for (const ElementType type : {ElementType::I64, ElementType::UI64}) {
    const Difference ends = differenceOf(
        integers(type, {-1}), integers(type, {least}), Expectation::equal());
    EXPECT_EQ(ends.wrong, 1);
    EXPECT_EQ(ends.largest, 0x1p63) << name(type);
  }
}

TEST(ComparisonTest, TypesMayDifferWhereOnlyNumbersCount) {
  const std::vector<uint16_t> halves = {0x3c00, 0x3c01};
  const Tensor half = Tensor::of<uint16_t>(ElementType::F16, {2}, halves);
  const Tensor full = floats({1, 1});
  const Difference found = differenceOf(half, full, Expectation::within({}));
  EXPECT_EQ(found.largest, 0x1p-10);
  EXPECT_EQ(found.wrong, 0);
  const Result<void> strict = expect(half, full, Expectation::within({}));
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().message(), "got 2xf16, expected 2xf32");
}

TEST(ComparisonTest, BothPartsOfAComplexNumberCount) {
  const std::vector<float> one = {1, 2, 3, 4}, other = {1, 2.5f, 3, 4};
  const Tensor a = Tensor::of<float>(ElementType::C64, {2}, one);
  const Tensor b = Tensor::of<float>(ElementType::C64, {2}, other);
  const Expectation close = Expectation::within({});
  const Difference found = differenceOf(b, a, close);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.worst, 0);
  EXPECT_EQ(found.largest, 0.5);
  EXPECT_EQ(differenceText(b, a, found),
            "1 of 2 values differ, most at [0]: got 1+2.5i, expected 1+2i");
}

TEST(ComparisonTest, WhatDiffersLooksDifferent) {
  const float next = std::nextafter(1.0f, 2.0f);
  const Result<void> done =
      expect(floats({next}), floats({1}), Expectation::equal());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "1 of 1 values differ, most at [0]: got 1.00000012, expected 1");
}

TEST(ComparisonTest, TheFurthestElementsComeFirst) {
  // More than one block of them.
  std::vector<float> got(2000, 1), expected(2000, 1);
  got[3] = 2;
  got[700] = nan;
  got[1999] = -2;
  got[5] = 2;
  const std::vector<int64_t> all = {700, 1999, 3, 5};
  EXPECT_EQ(furthestElements(floats(got), floats(expected), 10), all);
  EXPECT_EQ(furthestElements(floats(got), floats(expected), 3),
            std::vector<int64_t>(all.begin(), all.begin() + 3));
  EXPECT_TRUE(furthestElements(floats(got), floats(expected), 0).empty());
  const std::vector<int32_t> low = {1, 2, 3}, high = {1, 9, 5};
  EXPECT_EQ(furthestElements(Tensor::of<int32_t>(ElementType::I32, {3}, low),
                             Tensor::of<int32_t>(ElementType::I32, {3}, high),
                             5),
            (std::vector<int64_t>{1, 2}));
}

TEST(ComparisonTest, SimilarityOfWhatIsFinite) {
  const float none = HUGE_VALF;
  const Similarity found =
      similarityOf(floats({3, 3.5F, 0}), floats({3, 4, -none}), true);
  EXPECT_EQ(found.elements, 2U);
  EXPECT_NEAR(found.decibels(), 20, 1e-12);
  EXPECT_EQ(similarityOf(floats({none}), floats({1}), true).decibels(),
            -HUGE_VAL);
  EXPECT_EQ(similarityOf(floats({1}), floats({none}), true).elements, 0U);
  EXPECT_EQ(similarityOf(floats({none}), floats({none})).elements, 0U);
}

TEST(ComparisonTest, SimilarityOfTensors) {
  // 1 + 4 + 9 = 14, and an error of 1.
  const Similarity found = similarityOf(floats({1, 2, 4}), floats({1, 2, 3}));
  EXPECT_NEAR(found.decibels(), 10 * std::log10(14.0), 1e-12);
  EXPECT_NEAR(found.cosine(), 17 / std::sqrt(14.0 * 21), 1e-12);
  EXPECT_EQ(similarityOf(floats({1, 2}), floats({1, 2})).decibels(), HUGE_VAL);
  EXPECT_EQ(similarityOf(floats({0, 0}), floats({0, 0})).cosine(), 1);
  EXPECT_EQ(similarityOf(floats({0, 1}), floats({0, 0})).decibels(), -HUGE_VAL);
  EXPECT_EQ(similarityOf(floats({0, 1}), floats({0, 0})).cosine(), 0);
  EXPECT_NEAR(similarityOf(floats({-1, -2}), floats({1, 2})).cosine(), -1,
              1e-12);
  // What is not finite in both does not count.
  EXPECT_EQ(similarityOf(floats({nan, 2}), floats({nan, 2})).decibels(),
            HUGE_VAL);
  EXPECT_EQ(similarityOf(floats({nan, 2}), floats({1, 2})).decibels(),
            -HUGE_VAL);
  EXPECT_EQ(similarityOf(floats({1, 2}), floats({HUGE_VALF, 2})).cosine(), 0);
  // Both parts of complex numbers.
  const std::vector<float> one = {3, 4}, other = {3, 5};
  EXPECT_NEAR(similarityOf(Tensor::of<float>(ElementType::C64, {1}, other),
                           Tensor::of<float>(ElementType::C64, {1}, one))
                  .decibels(),
              10 * std::log10(25.0), 1e-12);
  Similarity sum = found;
  sum.add(similarityOf(floats({1}), floats({1})));
  EXPECT_NEAR(sum.decibels(), 10 * std::log10(15.0), 1e-12);
}

} // namespace
