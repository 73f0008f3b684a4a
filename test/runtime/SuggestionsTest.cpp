#include "runtime/Suggestions.h"

#include "gtest/gtest.h"

#include <vector>

using namespace sinter;

TEST(Suggestions, NearMiss) {
  const std::vector<std::string> names = {"input_ids", "attention_mask", "x"};
  EXPECT_EQ(nearMiss("input_id", names), "input_ids");
  EXPECT_EQ(nearMiss("atention_mask", names), "attention_mask");
  EXPECT_EQ(nearMiss("weights", names), "");
  EXPECT_EQ(suggestion("weights", names),
            "there are 'input_ids', 'attention_mask' and 'x'");
}

TEST(Suggestions, NoneForVeryLongNames) {
  const std::vector<std::string> names = {std::string(201, 'a')};
  EXPECT_EQ(nearMiss(std::string(201, 'a'), names), "");
  EXPECT_EQ(nearMiss(std::string(200, 'a'), names), "");
}
