// Covers: data Labels TensorFiles WrittenNumbers

#include "data/Inputs.h"
#include "TemporaryFolder.h"
#include "data/Labels.h"
#include "data/TensorFiles.h"
#include "data/WrittenNumbers.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(RandomSeed, Texts) {
  auto none = randomSeed("x", "a.npy");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(randomSeed("x", "random")->value(), 0U);
  EXPECT_EQ(randomSeed("x", "random:42")->value(), 42U);
  auto bad = randomSeed("x", "random:a");
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message().starts_with("x 'random:a': "));
}

TEST(WrittenNumbers, OfTheTypeOfTheInput) {
  auto one = writtenNumbers("inputs", "2.5", {"x", ElementType::F32, {}});
  ASSERT_TRUE(one && *one);
  EXPECT_EQ((*one)->at<float>(0), 2.5F);
  auto list = writtenNumbers("inputs", "1,2", {"x", ElementType::I64, {-1}});
  ASSERT_TRUE(list && *list);
  EXPECT_EQ((*list)->shape(), (Shape{2}));
  EXPECT_FALSE(writtenNumbers("inputs", "a.npy", {"x", ElementType::F32, {}}));
  auto wrong = writtenNumbers("inputs", "1.5", {"x", ElementType::I64, {}});
  ASSERT_TRUE(wrong);
  ASSERT_FALSE(*wrong);
  EXPECT_TRUE(wrong->error().message().starts_with("inputs 'x=1.5': "))
      << wrong->error().message();
}

TEST(ImageOptions, Layout) {
  InputOptions options;
  EXPECT_EQ(imageOptions(options).layout, ImageLayout::Nchw);
  options.layout = "NHWC";
  options.scale = 2;
  EXPECT_EQ(imageOptions(options).layout, ImageLayout::Nhwc);
  EXPECT_EQ(imageOptions(options).scale, 2);
}

TEST(Labels, ReadAndMostProbable) {
  const test::TemporaryFolder folder;
  folder.write("labels", "cat\r\ndog\nfox\n");
  auto labels = readLabels(folder.file("labels"), "labels");
  ASSERT_TRUE(labels);
  EXPECT_EQ(*labels, (std::vector<std::string>{"cat", "dog", "fox"}));
  const Tensor scores = Tensor::of<float>(ElementType::F32, {1, 3},
                                          std::vector<float>{0.2F, 0.5F, 0.3F});
  const std::vector<LabelScore> best = mostProbable(scores, *labels, 2);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].label, "dog");
  EXPECT_EQ(best[1].label, "fox");
  folder.write("empty", "");
  auto empty = readLabels(folder.file("empty"), "labels");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message(),
            "labels: '" + folder.file("empty") + "' is empty");
}

TEST(FileName, NoTwoAreTheSame) {
  std::set<std::string> used;
  EXPECT_EQ(fileName("a/b", used), "a_b");
  EXPECT_EQ(fileName("a_b", used), "a_b_1");
  EXPECT_EQ(fileName(".hidden", used), "_.hidden");
}

} // namespace
} // namespace sinter
