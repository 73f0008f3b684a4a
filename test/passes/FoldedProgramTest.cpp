// A program of PaddlePaddle and the one that is made of it by folding, in one
// process: the first computes what it did before, bit by bit.

#include "TemporaryFolder.h"
#include "formats/paddle/PaddleMessages.h"
#include "formats/paddle/PaddleReader.h"
#include "formats/paddle/file/PaddleFile.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "passes/Pipelines.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr int64_t channels = 3;

/// relu(batch_norm(conv2d(x, w)) + x), in place.
std::string program() {
  const std::string ones = numberOf(6, 1) + numberOf(6, 1);
  auto variable = [](const std::string &name, std::vector<int64_t> dims,
                     bool isPersistable) {
    return variableOf(name, 7, 5, dims, isPersistable);
  };
  const std::vector<int64_t> image = {-1, channels, 6, 6};
  std::string variables = variable("x", image, false) +
                          variable("c", image, false) +
                          variable("n", image, false) +
                          variable("w", {channels, channels, 3, 3}, true);
  for (const char *each : {"bias", "mean", "scale", "variance"})
    variables += variable(each, {channels}, true);
  return programOf({blockOf(
      0, -1,
      {operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"x"}}}, intOf("col", 0)),
       operatorOf(
           "conv2d", {{"Input", {"x"}}, {"Filter", {"w"}}}, {{"Output", {"c"}}},
           attributeOf("paddings", 3, ones) + attributeOf("strides", 3, ones) +
               attributeOf("dilations", 3, ones) + intOf("groups", 1)),
       operatorOf(
           "batch_norm",
           {{"X", {"c"}},
            {"Scale", {"scale"}},
            {"Bias", {"bias"}},
            {"Mean", {"mean"}},
            {"Variance", {"variance"}}},
           {{"MeanOut", {"mean"}}, {"VarianceOut", {"variance"}}, {"Y", {"n"}}},
           intOf("is_test", 1)),
       operatorOf("elementwise_add", {{"X", {"n"}}, {"Y", {"x"}}},
                  {{"Out", {"n"}}}, intOf("axis", -1)),
       operatorOf("relu", {{"X", {"n"}}}, {{"Out", {"n"}}}, ""),
       operatorOf("fetch", {{"X", {"n"}}}, {{"Out", {"fetch"}}},
                  intOf("col", 0))},
      variables)});
}

/// Sorted by name: bias, mean, scale, variance, w.
std::string parameters() {
  auto saved = [](std::vector<int64_t> dims, int64_t count, float first,
                  float step) {
    std::string elements;
    for (int64_t i = 0; i < count; ++i)
      elements += rawOf(first + step * static_cast<float>(i % 7));
    return savedTensor(5, dims, elements);
  };
  return saved({channels}, channels, -0.5f, 0.75f) +
         saved({channels}, channels, 0.25f, -0.5f) +
         saved({channels}, channels, 1.5f, -1.0f) +
         saved({channels}, channels, 0.1f, 0.4f) +
         saved({channels, channels, 3, 3}, channels * channels * 9, -0.3f,
               0.11f);
}

int64_t normsIn(const Model &model) {
  int64_t count = 0;
  model.module().walk([&](stablehlo::BatchNormInferenceOp) { count += 1; });
  return count;
}

} // namespace

TEST(FoldedProgram, LeavesTheOriginalAsItWas) {
  const TemporaryFolder folder;
  folder.write("inference.pdmodel", program());
  folder.write("inference.pdiparams", parameters());
  auto file = paddle::PaddleFile::open(folder.file("inference.pdmodel"));
  ASSERT_TRUE(file) << file.error().message();
  Result<Tensor> weights = file->parameter("w");
  ASSERT_TRUE(weights);
  const Tensor copy = weights->owned();
  Result<Model> original = readPaddle(*file, {});
  ASSERT_TRUE(original) << original.error().message();
  ASSERT_EQ(normsIn(*original), 1);

  Tensor x(ElementType::F32, {2, channels, 6, 6});
  fillRandom(x, 5, {-1, 1, 16});
  auto before = interpret(original->entry(), {x});
  ASSERT_TRUE(before) << before.error().message();
  Model folded = original->clone();
  auto report = simplify(folded, {});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(normsIn(folded), 0);
  EXPECT_EQ(normsIn(*original), 1);

  auto given = interpret(folded.entry(), {x});
  auto after = interpret(original->entry(), {x});
  ASSERT_TRUE(given && after);
  const Tensor &first = before->front(), &second = after->front(),
               &made = given->front();
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.bytes()), 0);
  EXPECT_EQ(std::memcmp(copy.data(), weights->data(), copy.bytes()), 0);
  ASSERT_EQ(made.shape(), first.shape());
  for (int64_t i = 0; i < made.size(); ++i)
    EXPECT_NEAR(made.toDouble(i), first.toDouble(i), 1e-5) << i;
}
