// What must not fold, and what must although it looks odd.

#include "passes/FoldBatchNorm.h"

#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// Convolutions of 4 features, 4 channels, 4x4 places: every size is the same.
const char *const prologue = R"(
  %one = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
)";
std::string convolution(const std::string &result, const std::string &operand,
                        const std::string &kernel, bool padded = false) {
  return result + " = stablehlo.convolution(" + operand + ", " + kernel +
         ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {" +
         (padded ? "pad = [[1, 1], [1, 1]]" : "") +
         "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
         "(tensor<2x4x4x4xf32>, " +
         (padded ? "tensor<4x4x3x3xf32>" : "tensor<4x4x1x1xf32>") +
         ") -> tensor<2x4x4x4xf32>\n";
}
std::string batchNorm(const std::string &result, const std::string &operand,
                      const std::string &scale = "%one",
                      const std::string &variance = "%one", int feature = 1,
                      const std::string &epsilon = "1.0e-3") {
  return result + " = \"stablehlo.batch_norm_inference\"(" + operand + ", " +
         scale + ", %one, %one, " + variance + ") {epsilon = " + epsilon +
         " : f32, feature_index = " + std::to_string(feature) +
         " : i64} : (tensor<2x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, "
         "tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>\n";
}

Model modelOf(const std::string &body, const std::string &results = "%y") {
  int count = llvm::count(results, '%');
  std::string types = "tensor<2x4x4x4xf32>";
  for (int i = 1; i < count; ++i)
    types += ", tensor<2x4x4x4xf32>";
  Model model = parseModel(
      "func.func @main(%x: tensor<2x4x4x4xf32>, %k: tensor<4x4x1x1xf32>, %k3: "
      "tensor<4x4x3x3xf32>, %l: tensor<4x4x1x1xf32>) -> (" +
      types + ") {" + prologue + body + "return " + results + " : " + types +
      "\n}\n");
  freezeWeights(model);
  return model;
}

/// The pass changes nothing at all.
void expectUntouched(Model model) {
  std::string before = textOf(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(before, textOf(model));
}

/// No batch norm is left, and the values are the same.
Model expectFolded(Model model, double tolerance = 1e-5) {
  std::vector<Tensor> before = run(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), 0);
  expectClose(before, run(model), tolerance);
  return model;
}

std::vector<std::string> constantNames(const Model &model) {
  std::vector<std::string> names;
  model.module().walk([&](mlir::Operation *op) {
    if (auto name = op->getAttrOfType<mlir::StringAttr>(nameAttribute))
      names.push_back(name.str());
  });
  return names;
}

TEST(FoldBatchNormRefusal, SecondReader) {
  expectUntouched(modelOf(convolution("%p", "%x", "%k") +
                          batchNorm("%n", "%p") +
                          "%y = stablehlo.add %n, %p : tensor<2x4x4x4xf32>\n"));
}

TEST(FoldBatchNormRefusal, ProductIsOutput) {
  expectUntouched(
      modelOf(convolution("%p", "%x", "%k") + batchNorm("%y", "%p"), "%y, %p"));
}

TEST(FoldBatchNormRefusal, StatisticsAreNotConstant) {
  std::string body =
      "%s = stablehlo.slice %x [0:1, 0:4, 0:1, 0:1] : (tensor<2x4x4x4xf32>) -> "
      "tensor<1x4x1x1xf32>\n%t = stablehlo.reshape %s : (tensor<1x4x1x1xf32>) "
      "-> tensor<4xf32>\n";
  expectUntouched(modelOf(body + convolution("%p", "%x", "%k") +
                          batchNorm("%y", "%p", "%t")));
  expectUntouched(modelOf(body + convolution("%p", "%x", "%k") +
                          batchNorm("%y", "%p", "%one", "%t")));
}

TEST(FoldBatchNormRefusal, WeightIsNotConstant) {
  std::string body = "%s = stablehlo.slice %x [0:1, 0:4, 0:4, 0:1] : "
                     "(tensor<2x4x4x4xf32>) -> tensor<1x4x4x1xf32>\n%w = "
                     "stablehlo.reshape %s : (tensor<1x4x4x1xf32>) -> "
                     "tensor<4x4x1x1xf32>\n";
  expectUntouched(
      modelOf(body + convolution("%p", "%x", "%w") + batchNorm("%y", "%p")));
}

TEST(FoldBatchNormRefusal, ShiftBeforeZeroPadding) {
  expectUntouched(modelOf(batchNorm("%n", "%x") +
                          convolution("%y", "%n", "%k3", /*padded=*/true)));
}

TEST(FoldBatchNormRefusal, ScaleBeforeZeroPaddingFolds) {
  std::string body = "%w = stablehlo.broadcast_in_dim %one, dims = [1] : "
                     "(tensor<4xf32>) -> tensor<2x4x4x4xf32>\n%n = "
                     "stablehlo.multiply %x, %w : tensor<2x4x4x4xf32>\n";
  Model model = expectFolded(
      modelOf(body + convolution("%y", "%n", "%k3", /*padded=*/true)));
  EXPECT_EQ(countComputations(model), 1);
}

TEST(FoldBatchNormRefusal, FeatureDimensionOfTheSameSize) {
  for (int feature : {2, 3}) {
    expectUntouched(modelOf(convolution("%p", "%x", "%k") +
                            batchNorm("%y", "%p", "%one", "%one", feature)));
    expectUntouched(modelOf(batchNorm("%n", "%x", "%one", "%one", feature) +
                            convolution("%y", "%n", "%k")));
    expectUntouched(modelOf(
        convolution("%p", "%x", "%k") +
        "%w = stablehlo.broadcast_in_dim %one, dims = [" +
        std::to_string(feature) +
        "] : (tensor<4xf32>) -> tensor<2x4x4x4xf32>\n%y = stablehlo.multiply "
        "%p, %w : tensor<2x4x4x4xf32>\n"));
  }
}

TEST(FoldBatchNormRefusal, VarianceAndEpsilonNotPositive) {
  for (const char *variance : {"0.0", "-1.0", "-0.5"})
    expectUntouched(modelOf(
        std::string("%v = stablehlo.constant dense<[1.0, 1.0, ") + variance +
        ", 1.0]> : tensor<4xf32>\n" + convolution("%p", "%x", "%k") +
        batchNorm("%y", "%p", "%one", "%v", 1,
                  std::string(variance) == "-0.5" ? "5.0e-1" : "0.0")));
}

TEST(FoldBatchNormRefusal, NotFinite) {
  for (const char *number : {"0x7FC00000", "0x7F800000", "0xFF800000"}) {
    std::string constant =
        std::string("%v = stablehlo.constant dense<") + number + "> : ";
    expectUntouched(modelOf(constant + "tensor<4xf32>\n" +
                            convolution("%p", "%x", "%k") +
                            batchNorm("%y", "%p", "%v")));
    expectUntouched(modelOf(constant + "tensor<4xf32>\n" +
                            convolution("%p", "%x", "%k") +
                            batchNorm("%y", "%p", "%one", "%v")));
    expectUntouched(modelOf(constant + "tensor<4x4x1x1xf32>\n" +
                            convolution("%p", "%x", "%v") +
                            batchNorm("%y", "%p")));
  }
}

TEST(FoldBatchNormRefusal, DivisionByZero) {
  expectUntouched(
      modelOf("%z = stablehlo.constant dense<0.0> : tensor<2x4x4x4xf32>\n" +
              convolution("%p", "%x", "%k") +
              "%y = stablehlo.divide %p, %z : tensor<2x4x4x4xf32>\n"));
}

TEST(FoldBatchNormRefusal, WeightsWouldOverflowOrVanish) {
  for (const char *number : {"3.0e+38", "1.0e-44"})
    expectUntouched(modelOf(
        std::string("%v = stablehlo.constant dense<") + number +
        "> : tensor<2x4x4x4xf32>\n%w = stablehlo.constant dense<50.0> : "
        "tensor<4x4x1x1xf32>\n%t = stablehlo.constant dense<1.0e-3> : "
        "tensor<4x4x1x1xf32>\n" +
        convolution("%p", "%x", number[0] == '3' ? "%w" : "%t") +
        "%y = stablehlo.multiply %p, %v : tensor<2x4x4x4xf32>\n"));
}

/// What weight decay leaves of channels that do nothing: weights and scales
/// that are no normal numbers. One live channel beside dead ones keeps its
/// digits.
TEST(FoldBatchNormRefusal, DeadChannelsFold) {
  std::string body =
      "%v = stablehlo.constant dense<[2.0, 8.0e-40, 1.0, 0.0]> : "
      "tensor<4xf32>\n%w = stablehlo.constant dense<[[[[2.0]], [[4.0e-40]], "
      "[[1.0]], [[0.5]]], [[[4.0e-40]], [[0.0]], [[-3.0e-41]], [[1.0e-44]]], "
      "[[[1.0]], [[3.0]], [[4.0e-40]], [[1.0]]], [[[3.0e-42]], [[0.0]], "
      "[[1.0e-45]], [[0.0]]]]> : tensor<4x4x1x1xf32>\n";
  expectFolded(modelOf(body + convolution("%p", "%x", "%w") +
                       batchNorm("%y", "%p", "%v")));
}

/// A channel of normal weights is not dead for a scale that is.
TEST(FoldBatchNormRefusal, DeadScalesOfLiveWeightsStay) {
  expectUntouched(
      modelOf("%v = stablehlo.constant dense<[2.0, 8.0e-40, 1.0, 1.0]> : "
              "tensor<4xf32>\n%w = stablehlo.constant dense<1.0e-3> : "
              "tensor<4x4x1x1xf32>\n" +
              convolution("%p", "%x", "%w") + batchNorm("%y", "%p", "%v")));
}

TEST(FoldBatchNormRefusal, NoProductBeside) {
  expectUntouched(modelOf(batchNorm("%y", "%x")));
  expectUntouched(
      modelOf(convolution("%p", "%x", "%k") + convolution("%q", "%x", "%l") +
              "%h = stablehlo.slice %p [0:2, 0:2, 0:4, 0:4] : "
              "(tensor<2x4x4x4xf32>) -> tensor<2x2x4x4xf32>\n%g = "
              "stablehlo.slice %q [0:2, 0:2, 0:4, 0:4] : (tensor<2x4x4x4xf32>) "
              "-> tensor<2x2x4x4xf32>\n%c = stablehlo.concatenate %h, %g, dim "
              "= 1 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> "
              "tensor<2x4x4x4xf32>\n" +
              batchNorm("%y", "%c")));
}

TEST(FoldBatchNormRefusal, ActivationBetween) {
  expectUntouched(modelOf(convolution("%p", "%x", "%k") +
                          "%r = nn.relu %p : tensor<2x4x4x4xf32>\n" +
                          batchNorm("%y", "%r")));
  expectUntouched(modelOf(batchNorm("%n", "%x") +
                          "%r = nn.relu %n : tensor<2x4x4x4xf32>\n" +
                          convolution("%y", "%r", "%k")));
}

TEST(FoldBatchNormRefusal, OtherReadersBefore) {
  expectUntouched(
      modelOf(batchNorm("%n", "%x") + convolution("%y", "%n", "%k"), "%y, %n"));
}

TEST(FoldBatchNormRefusal, OneBiasStays) {
  std::string bias = "%w = stablehlo.broadcast_in_dim %one, dims = [1] : "
                     "(tensor<4xf32>) -> tensor<2x4x4x4xf32>\n%b = "
                     "stablehlo.add %p, %w : tensor<2x4x4x4xf32>\n";
  expectUntouched(modelOf(convolution("%p", "%x", "%k") + bias, "%b"));
  expectUntouched(modelOf(convolution("%p", "%x", "%k") + bias +
                          convolution("%y", "%b", "%l")));
}

//===----------------------------------------------------------------------===//
// What known implementations get wrong
//===----------------------------------------------------------------------===//

TEST(FoldBatchNorm, TwoBranchesInterleaved) {
  Model model = expectFolded(
      modelOf(convolution("%p", "%x", "%k") + convolution("%q", "%x", "%l") +
              "%two = stablehlo.constant dense<[0.5, 1.5, 2.5, 3.5]> : "
              "tensor<4xf32>\n" +
              batchNorm("%m", "%q", "%two") + batchNorm("%n", "%p") +
              "%y = stablehlo.subtract %m, %n : tensor<2x4x4x4xf32>\n"));
  EXPECT_EQ(countOps(model, "stablehlo.add"), 2);
}

TEST(FoldBatchNorm, SharedWeightsGetCopies) {
  Model model = expectFolded(
      modelOf(convolution("%p", "%x", "%k") + convolution("%q", "%x", "%k") +
                  convolution("%r", "%x", "%k") +
                  "%two = stablehlo.constant dense<[0.5, 1.5, 2.5, 3.5]> : "
                  "tensor<4xf32>\n" +
                  batchNorm("%m", "%q", "%two") + batchNorm("%n", "%p"),
              "%m, %n, %r"));
  std::vector<std::string> names = constantNames(model);
  EXPECT_TRUE(llvm::is_contained(names, "w1"));
  EXPECT_TRUE(llvm::is_contained(names, "w1_fuse_bn"));
  EXPECT_TRUE(llvm::is_contained(names, "w1_fuse_bn_1"));
}

TEST(FoldBatchNorm, TakenName) {
  Model model = modelOf(
      "%other = stablehlo.constant {sinter.name = \"w1_fuse_bn\"} dense<2.0> : "
      "tensor<2x4x4x4xf32>\n" +
      convolution("%p", "%x", "%k") + batchNorm("%n", "%p") +
      "%z = nn.relu %n : tensor<2x4x4x4xf32>\n%y = stablehlo.add %z, %other : "
      "tensor<2x4x4x4xf32>\n");
  model = expectFolded(std::move(model));
  std::vector<std::string> names = constantNames(model);
  EXPECT_EQ(llvm::count(names, "w1_fuse_bn"), 1);
  EXPECT_EQ(llvm::count(names, "w1_fuse_bn_1"), 1);
}

TEST(FoldBatchNorm, EpsilonCounts) {
  for (const char *epsilon : {"0.0", "1.0e-5", "0.5", "100.0"})
    expectFolded(modelOf(convolution("%p", "%x", "%k") +
                         batchNorm("%y", "%p", "%one", "%one", 1, epsilon)));
}

TEST(FoldBatchNorm, BiasIsMerged) {
  Model model = expectFolded(modelOf(
      convolution("%p", "%x", "%k") +
      "%w = stablehlo.broadcast_in_dim %one, dims = [1] : (tensor<4xf32>) -> "
      "tensor<2x4x4x4xf32>\n%b = stablehlo.add %w, %p : tensor<2x4x4x4xf32>\n" +
      batchNorm("%y", "%b")));
  EXPECT_EQ(countComputations(model), 3);
}

TEST(FoldBatchNorm, BothSidesOfOneProduct) {
  Model model = expectFolded(modelOf(batchNorm("%n", "%x") +
                                     convolution("%p", "%n", "%k") +
                                     batchNorm("%y", "%p")));
  EXPECT_EQ(countComputations(model), 3);
}

TEST(FoldBatchNorm, OriginalModelRunsOn) {
  Model original =
      modelOf(convolution("%p", "%x", "%k3", true) + batchNorm("%y", "%p"));
  std::vector<Tensor> before = run(original);
  Model folded = original.clone();
  applyPass(folded, createFoldBatchNorm());
  expectClose(before, run(folded), 1e-5);
  EXPECT_TRUE(sameBits(before, run(original)));
  EXPECT_EQ(countOps(original, "stablehlo.batch_norm_inference"), 1);
}

} // namespace
