#include "passes/ChannelFactors.h"

#include "graph/Model.h"
#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

TEST(ChannelFactors, OneFactorIsOfNoDimension) {
  auto found = ChannelFactors::of({1, 0}, {4, 3}, {2, 2, 2, 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dimension, -1);
  EXPECT_EQ(found->factors, std::vector<double>{2});
  EXPECT_FALSE(ChannelFactors::of({1, 0}, {0, 3}, {}));
}

/// Channel i of the operand meets the outputs of its group.
TEST(ChannelFactors, GroupsAreAlongTheirDimension) {
  ChannelFold fold{1, 1, 0, 2};
  auto found = ChannelFactors::of(fold, {6, 2}, {3, 3, 5, 5});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dimension, 0);
  EXPECT_EQ(found->factors, (std::vector<double>{3, 3, 3, 5, 5, 5}));
  EXPECT_FALSE(ChannelFactors::of(fold, {6, 2}, {3, 4, 5, 5}));
}

TEST(ChannelFactors, ScalesOfAllBecomeThoseOfEach) {
  auto context = makeContext();
  auto f32 = mlir::Float32Type::get(context.get());
  const ChannelFactors factors{1, {2, -4}};
  EXPECT_TRUE(factors.changesIntegers());
  auto after = factors.scaled({{0.5}, {3}, -1}, f32);
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, (QuantizationParameters{{1, 2}, {3, 3}, 1}));
  after = factors.scaled({{0.5, 8}, {3, 1}, 1}, f32);
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, (QuantizationParameters{{1, 32}, {3, 1}, 1}));
  EXPECT_FALSE(factors.scaled({{0.5, 8}, {3, 1}, 0}, f32));
  EXPECT_FALSE(factors.scaled({{0.5, 8, 1}, {3, 1, 1}, 1}, f32));
}

/// What a half cannot hold a float does.
TEST(ChannelFactors, ScalesAreNormalNumbersOfTheirType) {
  auto context = makeContext();
  const ChannelFactors factors{-1, {1e-4}};
  EXPECT_TRUE(
      factors.scaled({{0.1}, {0}, -1}, mlir::Float32Type::get(context.get())));
  EXPECT_FALSE(
      factors.scaled({{0.1}, {0}, -1}, mlir::Float16Type::get(context.get())));
}

TEST(ChannelFactors, IntegersTurnAboutTheirZeroPoints) {
  Tensor integers(ElementType::I8, {2, 2});
  for (int i = 0; i < 4; ++i)
    integers.set<int8_t>(i, static_cast<int8_t>(10 * i - 15));
  const ChannelFactors factors{1, {-1, 0}};
  const QuantizationParameters parameters{{1}, {2}, -1};
  auto after = factors.turned(integers, parameters, {-128, 127});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->at<int8_t>(0), 19);
  EXPECT_EQ(after->at<int8_t>(1), 2);
  EXPECT_EQ(after->at<int8_t>(2), -1);
  EXPECT_EQ(after->at<int8_t>(3), 2);
  EXPECT_FALSE(factors.turned(integers, parameters, {-18, 18}));
}

} // namespace
