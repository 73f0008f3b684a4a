// Covers: data Labels TensorFiles WrittenNumbers

#include "data/Inputs.h"
#include "TemporaryFolder.h"
#include "data/Labels.h"
#include "data/TensorFiles.h"
#include "data/WrittenNumbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

TEST(Labels, ReadAndMostProbable) {
  const test::TemporaryFolder folder;
  folder.write("labels", "cat\r\ndog\nfox\n");
  auto labels = readLabels(folder.file("labels"), "labels");
  ASSERT_TRUE(labels);
  EXPECT_EQ(*labels, (std::vector<std::string>{"cat", "dog", "fox"}));
  const Tensor scores = Tensor::of<float>(ElementType::F32, {1, 3},
                                          std::vector<float>{0.2F, 0.5F, 0.3F});
  const std::vector<LabelledRow> rows = mostProbable(scores, *labels, 2);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].index, (std::vector<int64_t>{0}));
  ASSERT_EQ(rows[0].best.size(), 2U);
  EXPECT_EQ(rows[0].best[0].label, "dog");
  EXPECT_NEAR(rows[0].best[0].probability, 0.5, 1e-6);
  EXPECT_EQ(rows[0].best[1].label, "fox");
  folder.write("empty", "");
  auto empty = readLabels(folder.file("empty"), "labels");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message(),
            "labels: '" + folder.file("empty") + "' is empty");
}

TEST(Labels, EachRowOfASequence) {
  const std::vector<std::string> labels = {"cat", "dog"};
  const Tensor scores = Tensor::of<float>(
      ElementType::F32, {1, 3, 2}, std::vector<float>{0, 2, 2, 0, -1, -1});
  const std::vector<LabelledRow> rows = mostProbable(scores, labels, 1);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].index, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(rows[0].best[0].label, "dog");
  EXPECT_NEAR(rows[0].best[0].probability, 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_EQ(rows[1].best[0].label, "cat");
  // Of two that are equal the first one.
  EXPECT_EQ(rows[2].best[0].label, "cat");
  EXPECT_NEAR(rows[2].best[0].probability, 0.5, 1e-6);
}

TEST(Labels, ScoresThatAreNoNumbers) {
  const std::vector<std::string> labels = {"cat", "dog", "fox"};
  const float none = std::numeric_limits<float>::quiet_NaN(),
              large = std::numeric_limits<float>::infinity();
  for (const std::vector<float> &values :
       {std::vector<float>{none, 1, 2}, std::vector<float>{none, none, none},
        std::vector<float>{0, none, large}}) {
    const std::vector<LabelledRow> rows = mostProbable(
        Tensor::of<float>(ElementType::F32, {3}, values), labels, 3);
    ASSERT_EQ(rows.size(), 1U);
    ASSERT_EQ(rows[0].best.size(), 3U);
    EXPECT_EQ(rows[0].best[0].label, std::isnan(values[2]) ? "cat" : "fox");
  }
}

TEST(Labels, OtherOutputs) {
  const std::vector<std::string> labels = {"cat", "dog"};
  EXPECT_TRUE(
      mostProbable(Tensor(ElementType::F32, {2, 3}), labels, 1).empty());
  EXPECT_TRUE(
      mostProbable(Tensor(ElementType::I64, {1, 2}), labels, 1).empty());
  EXPECT_TRUE(
      mostProbable(Tensor(ElementType::F32, {0, 2}), labels, 1).empty());
  EXPECT_EQ(
      mostProbable(Tensor(ElementType::F32, {3, 2, 1, 1}), labels, 1).size(),
      3U);
  const std::vector<TensorSpec> outputs = {{"a", ElementType::F32, {1, 3}},
                                           {"b", ElementType::I64, {2}}};
  Result<void> fit = checkLabels(outputs, labels, "labels 'f'");
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().message(),
            "labels 'f' has 2 names, and no output has so many classes: 'a' "
            "1x3xf32, 'b' 2xi64");
  EXPECT_TRUE(
      checkLabels(std::vector<TensorSpec>{{"a", ElementType::F32, {-1, -1}}},
                  labels, "labels 'f'"));
}

TEST(Labels, KeptByAModel) {
  const test::TemporaryFolder folder;
  ModelDescription model;
  EXPECT_TRUE(labelsFor(model, "", "labels")->empty());
  model.metadata.entries = {{"other", "x"}, {"sinter.labels", "cat\ndog"}};
  const std::vector<std::string> kept = {"cat", "dog"};
  EXPECT_EQ(*labelsFor(model, "", "labels"), kept);
  EXPECT_EQ(*labelsText(kept), "cat\ndog");
  EXPECT_FALSE(labelsText({"cat", "d\nog"}));
  folder.write("same", "cat\ndog\n\n");
  EXPECT_EQ(*labelsFor(model, folder.file("same"), "labels"), kept);
  folder.write("order", "dog\ncat\n");
  auto order = labelsFor(model, folder.file("order"), "labels");
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().kind, ErrorKind::Usage);
  EXPECT_EQ(order.error().message(),
            "labels '" + folder.file("order") +
                "': line 1 is 'dog', and the model calls that class 'cat' "
                "(sinter.labels)");
  folder.write("count", "cat\n");
  auto count = labelsFor(model, folder.file("count"), "labels");
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().message(),
            "labels '" + folder.file("count") +
                "' has 1 names, and the model keeps 2 (sinter.labels)");
}

TEST(FileName, NoTwoAreTheSame) {
  std::set<std::string> used;
  EXPECT_EQ(fileName("a/b", used), "a_b");
  EXPECT_EQ(fileName("a_b", used), "a_b_1");
  EXPECT_EQ(fileName(".hidden", used), "_.hidden");
}

} // namespace
} // namespace sinter
