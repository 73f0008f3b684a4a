#include "post/PostText.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sinter {
namespace {

using Kind = PostStep::Kind;
using nlohmann::json;
const std::vector<std::string> labels = {"cat", "dog"};

TEST(PostText, Classes) {
  const PostResult one = {
      Kind::TopK, "y",
      std::vector<std::vector<RankedClass>>{{{1, 0.5}, {7, 0.25}}}};
  const std::vector<std::string> lines = postText(one, labels);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "dog                      0.5000");
  EXPECT_EQ(lines[1], "class 7                  0.2500");
  EXPECT_EQ(postJson(one, labels), json::parse(R"({"step": "top-k",
      "output": "y", "rows": [[{"class": 1, "label": "dog", "score": 0.5},
                               {"class": 7, "score": 0.25}]]})"));
  const PostResult two = {
      Kind::TopK, "y",
      std::vector<std::vector<RankedClass>>{{{1, 0.5}}, {{0, 0.5}}}};
  EXPECT_EQ(postText(two, labels)[1], "1: cat                      0.5000");
}

TEST(PostText, Maps) {
  const std::vector<int64_t> pixels = {0, 0, 0, 1};
  const PostResult map = {Kind::ArgmaxMap, "y",
                          std::vector<Tensor>{Tensor::of<int64_t>(
                              ElementType::I64, {1, 4}, pixels)}};
  EXPECT_EQ(postText(map, labels)[0],
            "cat                       75.00 % of 4x1 pixels");
  EXPECT_EQ(postJson(map, labels), json::parse(R"({"step": "argmax-map",
      "output": "y", "maps": [{"height": 1, "width": 4, "classes":
        [{"class": 0, "label": "cat", "share": 0.75},
         {"class": 1, "label": "dog", "share": 0.25}]}]})"));
}

TEST(PostText, TextsAndBoxes) {
  const PostResult texts = {Kind::Ctc, "y",
                            std::vector<DecodedText>{{"hello", 0.5}}};
  EXPECT_EQ(postText(texts, {})[0], "hello  0.5000");
  EXPECT_EQ(postJson(texts, {}), json::parse(R"({"step": "ctc", "output": "y",
      "texts": [{"text": "hello", "confidence": 0.5}]})"));
  const PostResult boxes = {
      Kind::Boxes, "",
      std::vector<std::vector<Detection>>{{{{1, 2, 3, 4}, 0.5, 0}}}};
  EXPECT_EQ(postText(boxes, labels)[0],
            "cat                      0.5000  1.0, 2.0 to 3.0, 4.0");
  EXPECT_EQ(postJson(boxes, labels), json::parse(R"({"step": "boxes",
      "boxes": [[{"class": 0, "label": "cat", "score": 0.5,
                  "box": [1.0, 2.0, 3.0, 4.0]}]]})"));
}

} // namespace
} // namespace sinter
