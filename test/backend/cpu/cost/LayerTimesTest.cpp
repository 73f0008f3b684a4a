// How long layers take in floats and in bytes, for machines by name.
//
// Covers: backend/cpu/cost GraphShapes

#include "backend/cpu/cost/LayerTimes.h"

#include "backend/cpu/CompareWithInterpreter.h"
#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Of the first convolution or product of \p body.
std::optional<LayerTimes> timesOf(const std::string &body,
                                  const Target &target) {
  Model model = test::parseModel(body);
  std::optional<LayerTimes> found;
  model.module().walk([&](mlir::Operation *op) {
    if (!found)
      found = layerTimes(op, target);
  });
  return found;
}

std::string convolutionText(int64_t channels, int64_t size, int64_t window,
                            int64_t groups = 1) {
  auto tensor = [](std::initializer_list<int64_t> sizes) {
    std::string text = "tensor<";
    for (int64_t each : sizes)
      text += std::to_string(each) + "x";
    return text + "f32>";
  };
  const std::string x = tensor({1, channels, size, size}),
                    w = tensor({channels, channels / groups, window, window}),
                    pad = std::to_string(window / 2);
  return "(%x: " + x + ", %w: " + w + ") -> " + x +
         " {\n%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, "
         "1]x[o,"
         " i, 0, 1]->[b, f, 0, 1], window = {pad = [[" +
         pad + ", " + pad + "], [" + pad + ", " + pad +
         "]]} {batch_group_count = 1 : i64, feature_group_count = " +
         std::to_string(groups) + " : i64} : (" + x + ", " + w + ") -> " + x +
         "\nreturn %0 : " + x + "\n}";
}

std::string product(int64_t rows, int64_t depth, int64_t columns) {
  const std::string m = std::to_string(rows), k = std::to_string(depth),
                    n = std::to_string(columns);
  const std::string a = "tensor<" + m + "x" + k + "xf32>",
                    b = "tensor<" + k + "x" + n + "xf32>",
                    c = "tensor<" + m + "x" + n + "xf32>";
  return "(%a: " + a + ", %b: " + b + ") -> " + c +
         " {\n%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] "
         ": (" +
         a + ", " + b + ") -> " + c + "\nreturn %0 : " + c + "\n}";
}

Target named(const char *cpu, const char *features = "") {
  return *Target::named("x86_64-unknown-linux-gnu", cpu, features);
}

} // namespace

TEST(LayerTimes, BytesAreFasterByWhatTheMachineMultipliesAtOnce) {
  const std::string body = product(512, 768, 768);
  const auto pairs = timesOf(body, named("x86-64-v4")),
             dots = timesOf(body, named("x86-64-v4", "+avx512vnni"));
  ASSERT_TRUE(pairs && dots);
  // The weights of pairs are widened as they are read.
  EXPECT_NEAR(pairs->f32 / pairs->bytes, 1.7, 0.15);
  EXPECT_NEAR(dots->f32 / dots->bytes, 4, 0.4);
  EXPECT_DOUBLE_EQ(pairs->f32, dots->f32);
}

TEST(LayerTimes, OneRowIsFasterByTheBytesOfItsWeights) {
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"}) {
    const auto times = timesOf(product(1, 4096, 4096), named(cpu));
    ASSERT_TRUE(times);
    EXPECT_NEAR(times->f32 / times->bytes, 4, 0.1) << cpu;
  }
}

/// Of bytes where machines multiply pairs of 16 bits no slower than half as
/// fast, of floats on all.
TEST(LayerTimes, FastConvolutionsCount) {
  auto arm = [](const char *cpu) {
    return *Target::named("aarch64-unknown-linux-gnu", cpu, "");
  };
  for (const Target &target :
       {named("x86-64-v4"), named("x86-64-v3"), named("x86-64"),
        arm("neoverse-n1"), arm("cortex-a57")}) {
    const auto three = timesOf(convolutionText(256, 28, 3), target),
               five = timesOf(convolutionText(256, 28, 5), target);
    ASSERT_TRUE(three && five);
    EXPECT_LT(three->f32 / five->f32, 0.3);
    EXPECT_EQ(three->bytes / five->bytes < 0.3, !target.hasSignedDotProduct);
    if (target.hasPairSum) {
      EXPECT_GT(three->f32 / three->bytes, 1.2);
      EXPECT_GT(five->f32 / five->bytes, 1.5);
    }
  }
}

/// By channel bytes are not multiplied faster, but they may be read as floats:
/// what they save is the size of the result.
TEST(LayerTimes, ByChannelBytesAreNotMultipliedFaster) {
  for (const char *cpu : {"x86-64", "x86-64-v3", "x86-64-v4"})
    for (int64_t size : {7, 14, 28, 56}) {
      const Target target = named(cpu);
      const auto depthwise = timesOf(convolutionText(64, size, 5, 64), target),
                 whole = timesOf(convolutionText(64, size, 5), target);
      ASSERT_TRUE(depthwise && whole);
      EXPECT_LT(depthwise->f32, whole->f32);
      EXPECT_LT(depthwise->bytes, depthwise->f32) << cpu << " " << size;
      EXPECT_GT(depthwise->bytes, depthwise->f32 / 2) << cpu << " " << size;
    }
}

/// Where the input of floats comes from memory, that of bytes from the cache,
/// these are widened as they are read.
TEST(LayerTimes, WhichInputsAreReadAsFloats) {
  const auto isFaster = [](int64_t channels, int64_t size, int64_t groups) {
    Model model = test::parseModel(convolutionText(channels, size, 3, groups));
    bool found = false;
    model.module().walk([&](stablehlo::ConvolutionOp op) {
      found = readsFloatsFaster(op, named("x86-64-v4"));
    });
    return found;
  };
  EXPECT_TRUE(isFaster(64, 14, 64));
  EXPECT_TRUE(isFaster(384, 14, 384));
  EXPECT_FALSE(isFaster(64, 14, 1));
  EXPECT_FALSE(isFaster(64, 224, 64));
}

TEST(LayerTimes, AMachineByNameIsTheSameEverywhere) {
  const std::string body = convolutionText(64, 56, 3);
  const auto narrow = timesOf(body, named("x86-64-v3")),
             again = timesOf(body, named("x86-64-v3")),
             wide = timesOf(body, named("x86-64-v4"));
  ASSERT_TRUE(narrow && again && wide);
  EXPECT_EQ(narrow->f32, again->f32);
  EXPECT_EQ(narrow->bytes, again->bytes);
  EXPECT_GT(narrow->f32, wide->f32);
}

TEST(LayerTimes, BatchesHaveNoKernelOfBytes) {
  const auto times = timesOf(
      "(%a: tensor<8x32x64xf32>, %b: tensor<8x64x32xf32>) -> "
      "tensor<8x32x32xf32> {\n%0 = stablehlo.dot_general %a, %b, "
      "batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
      "(tensor<8x32x64xf32>, tensor<8x64x32xf32>) -> tensor<8x32x32xf32>\n"
      "return %0 : tensor<8x32x32xf32>\n}",
      named("x86-64-v4"));
  ASSERT_TRUE(times);
  EXPECT_EQ(times->f32, times->bytes);
}

TEST(LayerTimes, OthersHaveNone) {
  EXPECT_FALSE(timesOf("(%a: tensor<4xf32>) -> tensor<4xf32> {\n%0 = "
                       "stablehlo.add %a, %a : tensor<4xf32>\nreturn %0 : "
                       "tensor<4xf32>\n}",
                       named("x86-64-v4")));
  EXPECT_FALSE(
      timesOf("(%a: tensor<?x4xf32>, %b: tensor<4x4xf32>) -> tensor<?x4xf32> "
              "{\n%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x "
              "[0] : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>\n"
              "return %0 : tensor<?x4xf32>\n}",
              named("x86-64-v4")));
}
