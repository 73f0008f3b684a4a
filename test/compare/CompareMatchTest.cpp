//===- CompareMatchTest.cpp - matching the values of two models -----------===//

#include "compare/CompareMatch.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

ValueFacts named(int64_t number, const std::string &name,
                 const std::string &unfolded = "") {
  ValueFacts facts;
  facts.number = number;
  facts.name = name;
  facts.isNamed = true;
  facts.op = "stablehlo.convolution";
  facts.unfolded = unfolded;
  return facts;
}

ValueFacts unnamed(int64_t number, const std::string &op, uint64_t from,
                   uint64_t to) {
  ValueFacts facts;
  facts.number = number;
  facts.op = op;
  facts.fromInputs = from;
  facts.toOutputs = to;
  return facts;
}

TEST(CompareMatch, NamesMatch) {
  RunFacts first, second;
  first.values = {named(1, "a"), named(2, "b")};
  second.values = {named(7, "b"), named(8, "c")};
  const std::vector<TensorMatch> matches = matchValues(first, second);
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].first, 2);
  EXPECT_EQ(matches[0].second, 7);
  EXPECT_EQ(matches[0].by, MatchedBy::Name);
}

TEST(CompareMatch, NotWhereOneHasFoldedWhatFollows) {
  RunFacts first, second;
  first.values = {named(1, "conv", "batch_norm_inference"), named(2, "norm")};
  second.values = {named(7, "conv"), named(8, "norm")};
  const std::vector<TensorMatch> matches = matchValues(first, second);
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].facts->name, "norm");
}

TEST(CompareMatch, FlowMatchesWhatHasNoNames) {
  RunFacts first, second;
  // The second model has another operation between.
  first.values = {unnamed(1, "dot", 11, 21), unnamed(2, "tanh", 12, 22)};
  second.values = {unnamed(5, "dot", 11, 31), unnamed(6, "abs", 32, 33),
                   unnamed(7, "tanh", 34, 22)};
  const std::vector<TensorMatch> matches = matchValues(first, second);
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0].second, 5);
  EXPECT_EQ(matches[1].second, 7);
  EXPECT_EQ(matches[1].by, MatchedBy::Flow);
}

TEST(CompareMatch, NotIfOnlyOneModelHasSeveral) {
  RunFacts first, second;
  first.values = {unnamed(1, "dot", 11, 0), unnamed(2, "dot", 11, 0)};
  second.values = {unnamed(5, "dot", 11, 0)};
  EXPECT_TRUE(matchValues(first, second).empty());
}

} // namespace
} // namespace sinter
