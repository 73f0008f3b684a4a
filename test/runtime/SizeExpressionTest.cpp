//===- SizeExpressionTest.cpp - sizes as polynomials ----------------------===//

#include "runtime/SizeExpression.h"

#include <gtest/gtest.h>

#include <limits>

using namespace sinter;

namespace {
const SizeExpression n = SizeExpression::parameter(0),
                     s = SizeExpression::parameter(1);
const std::vector<std::string> names = {"N", "S"};

SizeExpression product(const SizeExpression &a, const SizeExpression &b) {
  return SizeExpression::productOf(a, b).value();
}
SizeExpression sum(const SizeExpression &a, const SizeExpression &b) {
  return SizeExpression::sumOf(a, b).value();
}
} // namespace

TEST(SizeExpression, IsTheSameInWhateverOrder) {
  EXPECT_EQ(product(n, s), product(s, n));
  EXPECT_EQ(product(sum(n, 1), s), sum(s, product(n, s)));
  EXPECT_EQ(sum(n, product(n, -1)), SizeExpression(0));
  EXPECT_NE(product(n, s), product(n, n));
}

TEST(SizeExpression, HasATextAndAValue) {
  const SizeExpression size = sum(product(product(2, n), s), -3);
  EXPECT_EQ(size.text(names), "-3 + 2*N*S");
  const int64_t values[] = {5, 7};
  EXPECT_EQ(size.at(values), 67);
  EXPECT_EQ(SizeExpression(0).text(names), "0");
  EXPECT_EQ(n.asParameter(), 0u);
  EXPECT_FALSE(size.asParameter());
  EXPECT_EQ(SizeExpression(4).number(), 4);
  EXPECT_FALSE(n.number());
}

TEST(SizeExpression, IsDividedWhereThatLeavesNothing) {
  const SizeExpression size = product(product(12, n), s);
  EXPECT_EQ(SizeExpression::quotientOf(size, product(4, n)), product(3, s));
  EXPECT_FALSE(SizeExpression::quotientOf(size, 5));
  EXPECT_FALSE(SizeExpression::quotientOf(n, s));
  EXPECT_FALSE(SizeExpression::quotientOf(size, sum(n, s)));
  EXPECT_EQ(SizeExpression::quotientOf(product(size, sum(n, s)), sum(n, s)),
            size);
  EXPECT_FALSE(SizeExpression::quotientOf(sum(product(size, n), s), sum(n, s)));
  EXPECT_FALSE(SizeExpression::quotientOf(size, 0));
}

TEST(SizeExpression, OverflowsToNothing) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(SizeExpression::sumOf(most, 1));
  EXPECT_FALSE(SizeExpression::productOf(most, product(2, n)));
  const int64_t large[] = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_FALSE(product(n, s).at(large));
  EXPECT_FALSE(product(n, s).at({large, 1}));
}

TEST(SizeExpression, IsReadOnlyInItsOwnForm) {
  EXPECT_TRUE(SizeExpression::of(product(n, s).terms()));
  EXPECT_FALSE(SizeExpression::of({{1, {1, 0}}}));
  EXPECT_FALSE(SizeExpression::of({{0, {1}}}));
  EXPECT_FALSE(SizeExpression::of({{1, {1}}, {1, {0}}}));
  EXPECT_FALSE(SizeExpression::of({{1, std::vector<uint32_t>(100, 0)}}));
}
