//===- CompareWeightsTest.cpp - which weights of two models differ --------===//

#include "compare/CompareWeights.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

WeightFacts weight(const std::string &name, const std::string &layer,
                   const std::vector<float> &values, Shape shape = {}) {
  if (shape.empty())
    shape = {static_cast<int64_t>(values.size()), 1};
  return {name, layer, "stablehlo.dot_general",
          Tensor::of<float>(ElementType::F32, shape, values)};
}

TEST(CompareWeights, BitsOfOneName) {
  ModelWeights first, second;
  first.stored = {weight("a", "one", {1, 2}), weight("b", "two", {3, 4})};
  second.stored = {weight("a", "one", {1, 2}), weight("b", "two", {3, 4.5F})};
  EXPECT_TRUE(haveSameWeights(first, second));
  const auto found = differingWeights(first, second).weights;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].values.name, "b");
  EXPECT_EQ(found[0].layer, "two");
  EXPECT_EQ(found[0].values.difference.largest, 0.5);
  EXPECT_FALSE(found[0].isFolded);
  EXPECT_TRUE(differingWeights(first, first).weights.empty());
}

TEST(CompareWeights, FoldedWeightsOfALayer) {
  // The second file has a norm folded into `a`, and another `c`.
  ModelWeights first, second;
  first.stored = {weight("a", "one", {1, 2}), weight("scale", "norm", {2}, {1}),
                  weight("c", "two", {5, 6})};
  second.stored = {weight("a_folded", "one", {2, 4}),
                   weight("c", "two", {5, 7})};
  first.folded = {weight("a", "one", {2, 4}), weight("c", "two", {5, 6})};
  second.folded = {weight("a_folded", "one", {2, 4}),
                   weight("c", "two", {5, 7})};
  EXPECT_FALSE(haveSameWeights(first, second));
  auto found = differingWeights(first, second).weights;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].values.name, "c");
  // A change of the weight that the norm went into has its name.
  second.stored[1] = first.stored[2];
  second.folded = {weight("a_folded", "one", {2, 6}),
                   weight("c", "two", {5, 6})};
  found = differingWeights(first, second).weights;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].values.name, "a");
  EXPECT_EQ(found[0].values.otherName, "a_folded");
  EXPECT_EQ(found[0].layer, "one");
  EXPECT_TRUE(found[0].isFolded);
  // The rounding of folding is no difference.
  second.folded = {weight("a_folded", "one", {2, 4.000001F}),
                   weight("c", "two", {5, 6})};
  EXPECT_TRUE(differingWeights(first, second).weights.empty());
}

TEST(CompareWeights, LayersOfOtherNames) {
  ModelWeights first, second;
  first.stored = {weight("a", "one", {1, 2})};
  second.stored = {weight("x", "other", {1, 3})};
  first.folded = first.stored;
  second.folded = second.stored;
  const auto found = differingWeights(first, second).weights;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].values.name, "a");
  EXPECT_EQ(found[0].values.otherName, "x");
}

TEST(CompareWeights, QuantizedOnesByTheirNoise) {
  ModelWeights first, second;
  second.isQuantized = true;
  const std::vector<float> values = {1, 2, -3, 4, 5, -6};
  first.folded = {weight("a", "one", values, {2, 3}),
                  weight("b", "two", values, {2, 3}),
                  weight("c", "three", values, {2, 3})};
  // The second has a scale for each row, and for each column.
  second.folded = {weight("a8", "one", {1.01F, 2, -3, 4, 5, -6}, {2, 3}),
                   weight("b8", "two", {2, 4, -12, 40, 50, -120}, {2, 3}),
                   weight("c8", "three", {1, 2, -3, 4, -5, 6}, {2, 3})};
  const WeightDifferences found = differingWeights(first, second);
  ASSERT_EQ(found.weights.size(), 1U);
  EXPECT_EQ(found.weights[0].values.name, "c");
  ASSERT_EQ(found.scaledLayers.size(), 1U);
  EXPECT_EQ(found.scaledLayers[0], "two");
}

} // namespace
} // namespace sinter
