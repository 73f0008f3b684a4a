#include "engine/SampleSizes.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

/// x [N, 3, H, W], y [N, W].
ModelDescription imageModel() {
  ModelDescription model;
  for (const auto &[name, shape, symbols] :
       {std::tuple<const char *, Shape, std::vector<std::string>>(
            "x", {-1, 3, -1, -1}, {"N", "", "H", "W"}),
        {"y", {-1, -1}, {"N", "W"}}}) {
    ModelInput input;
    input.spec = {name, ElementType::F32, shape};
    input.symbols = symbols;
    model.inputs.push_back(std::move(input));
  }
  return model;
}

const std::vector<Shape> unknown = {{-1, 3, -1, -1}, {-1, -1}};

TEST(SampleSizes, AreSmallOddAndLarge) {
  const auto all = sampleSizes(imageModel(), unknown, [](const auto &shapes) {
    // A window of 3, and one of 5.
    return shapes[0][2] >= 3 && shapes[0][3] >= 5;
  });
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].shapes, (std::vector<Shape>{{1, 3, 3, 5}, {1, 5}}));
  EXPECT_EQ(all[0].text(), "N = 1, H = 3, W = 5");
  for (const SampleSizes &each : all) {
    // One symbol, one size.
    EXPECT_EQ(each.shapes[0][0], each.shapes[1][0]);
    EXPECT_EQ(each.shapes[0][3], each.shapes[1][1]);
  }
  EXPECT_EQ(all[1].shapes[0][2] % 2, 1);
  EXPECT_EQ(all[1].shapes[0][3] % 2, 1);
  EXPECT_NE(all[1].shapes[0][2], all[1].shapes[0][3]);
  EXPECT_GT(all[2].shapes[0][3], 32);
}

TEST(SampleSizes, AreThoseThatTheModelAllows) {
  const auto all = sampleSizes(imageModel(), unknown, [](const auto &shapes) {
    return shapes[0][2] == shapes[0][3] && shapes[0][2] % 32 == 0;
  });
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].shapes[0], (Shape{1, 3, 32, 32}));
  EXPECT_EQ(all[1].shapes[0], (Shape{3, 3, 96, 96}));
  EXPECT_EQ(all[2].shapes[0], (Shape{4, 3, 128, 128}));
}

TEST(SampleSizes, OneThatIsKnownStays) {
  const auto all = sampleSizes(imageModel(), {{2, 3, 7, 9}, {2, 9}},
                               [](const auto &) { return true; });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].text(), "");
  EXPECT_EQ(all[0].shapes[0], (Shape{2, 3, 7, 9}));
}

TEST(SampleSizes, ThereAreNoneWhereNothingIsAllowed) {
  EXPECT_TRUE(sampleSizes(imageModel(), unknown, [](const auto &) {
                return false;
              }).empty());
}

TEST(SampleSizes, RepeatElements) {
  const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
  const Tensor tensor =
      Tensor::of<int32_t>(ElementType::I32, {2, 3}, {numbers, 6});
  const Tensor larger = repeatedTo(tensor, {3, 2});
  const std::vector<int32_t> got(larger.values<int32_t>().begin(),
                                 larger.values<int32_t>().end());
  EXPECT_EQ(got, (std::vector<int32_t>{1, 2, 4, 5, 1, 2}));
  EXPECT_EQ(repeatedTo(tensor, {0, 4}).size(), 0);
}

} // namespace
} // namespace sinter
