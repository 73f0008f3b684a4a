#include "runtime/TensorRange.h"

#include <gtest/gtest.h>

using namespace sinter;

static Tensor numbers(std::vector<float> values) {
  Tensor tensor(ElementType::F32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(),
            tensor.mutableValues<float>().begin());
  return tensor;
}

TEST(TensorRangeTest, OfAllElements) {
  const TensorRange range = rangeOf(numbers({3, -1, 4}));
  EXPECT_EQ(range.min, -1);
  EXPECT_EQ(range.max, 4);
  EXPECT_EQ(range.mean, 2);
  EXPECT_EQ(range.looked, 3);
}

TEST(TensorRangeTest, OfNoElements) {
  const TensorRange range = rangeOf(numbers({}));
  EXPECT_TRUE(std::isnan(range.min));
  EXPECT_TRUE(std::isnan(range.mean));
  EXPECT_EQ(range.looked, 0);
}

TEST(TensorRangeTest, NaNsShowInTheMeanOnly) {
  const TensorRange range = rangeOf(numbers({NAN, 1, 3}));
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.max, 3);
  EXPECT_TRUE(std::isnan(range.mean));
}

TEST(TensorRangeTest, OfSomeElementsSpreadEvenly) {
  const TensorRange range = rangeOf(numbers({0, 9, 9, 2, 9, 9, 4}), 3);
  EXPECT_EQ(range.looked, 3);
  EXPECT_EQ(range.max, 4);
  EXPECT_EQ(range.mean, 2);
  EXPECT_EQ(rangeOf(numbers({1, 2, 3}), 3).looked, 3);
  EXPECT_EQ(rangeOf(numbers({1, 2, 3, 4}), 3).looked, 2);
  EXPECT_EQ(rangeOf(numbers({1, 2}), 0).looked, 1);
}
