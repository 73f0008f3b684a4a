#include "runtime/Expectation.h"

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

TEST(ExpectationTest, EqualIsEqualAsNumbers) {
  EXPECT_TRUE(
      holds({1, -0.0f, infinity}, {1, 0, infinity}, Expectation::equal()));
  EXPECT_FALSE(holds({nan}, {nan}, Expectation::equal()));
  EXPECT_FALSE(holds({1}, {1.0000001f}, Expectation::equal()));
}

TEST(ExpectationTest, AlmostIsAbsolute) {
  EXPECT_TRUE(holds({nan, infinity, 1.0f}, {nan, infinity, 1.00009f},
                    Expectation::almost(1e-4)));
  EXPECT_FALSE(holds({1.0f}, {1.0002f}, Expectation::almost(1e-4)));
  EXPECT_FALSE(holds({infinity}, {-infinity}, Expectation::almost(1e-4)));
  EXPECT_FALSE(holds({infinity}, {1.0f}, Expectation::almost(1e300)));
  EXPECT_FALSE(holds({nan}, {1.0f}, Expectation::almost(1e300)));
}

TEST(ExpectationTest, CloseCountsRepresentableValues) {
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

TEST(ExpectationTest, ComplexNumbersAreAsFarAsTheirWorstPart) {
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

TEST(ExpectationTest, TheMessageNamesTheWorstValue) {
  const Result<void> result =
      expect(floats({1, 2, 3}), floats({1, 4, 9}), Expectation::almost(0.5));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::WrongResult);
  EXPECT_EQ(result.error().message,
            "2 of 3 values are not as expected, worst at [2]: got 3, expected "
            "9, tolerance 0.5");
  EXPECT_FALSE(expect(floats({1}), floats({1, 1}), Expectation::equal()));
}

} // namespace
