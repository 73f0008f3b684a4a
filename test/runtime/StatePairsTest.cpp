#include "runtime/StatePairs.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

using Names = std::vector<std::string>;
using Pair = std::optional<std::pair<size_t, size_t>>;

TEST(StatePairs, AreLines) {
  EXPECT_EQ(statePairs("a=b\n\nc=d\n"), (Names{"a=b", "c=d"}));
  EXPECT_TRUE(statePairs("").empty());
}

TEST(StatePairs, BeginAtTheFirstSignBetweenNames) {
  const Names outputs = {"a=b", "a", "y"}, inputs = {"x", "b=c", "c"};
  EXPECT_EQ(findStatePair("y=x", outputs, inputs), Pair({2, 0}));
  EXPECT_EQ(findStatePair("a=b=c", outputs, inputs), Pair({1, 1}));
  EXPECT_EQ(findStatePair("a=b=b=c", outputs, inputs), Pair({0, 1}));
  for (const char *none : {"", "y", "y=", "=x", "x=y", "y=xx", "yy=x"})
    EXPECT_FALSE(findStatePair(none, outputs, inputs)) << none;
}

} // namespace
