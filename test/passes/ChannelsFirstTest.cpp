// Networks with the channels last, by value, and what is left of transposes.

#include "passes/ChannelsFirst.h"
#include "mlir/IR/Verifier.h"

#include "passes/GraphHarness.h"
#include "passes/Pipelines.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// A convolution, and what may stand behind one with the channels last.
const char *const text =
    R"(func.func @main(%x: tensor<2x8x8x3xf32>, %k: tensor<3x3x3x4xf32>, %b: tensor<4xf32>, %l: tensor<1x1x4x4xf32>) -> $t {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x8x8x4xf32>
  %w = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<4xf32>) -> tensor<2x8x8x4xf32>
  %d = stablehlo.add %c, %w : tensor<2x8x8x4xf32>
$body  return %r : $t
})";

struct TailCase {
  const char *name, *type, *body;
  /// Transposes that stay: into the first convolution, and out of the last.
  int transposes;
};

const TailCase tails[] = {
    {"plain", "tensor<2x8x8x4xf32>",
     "  %r = stablehlo.tanh %d : tensor<2x8x8x4xf32>\n", 2},
    {"window", "tensor<2x4x4x4xf32>",
     "  %r = \"stablehlo.reduce_window\"(%d, %least) <{window_dimensions = "
     "array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, "
     "padding = dense<[[0, 0], [0, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>}> "
     "({\n  ^bb0(%a: tensor<f32>, %e: tensor<f32>):\n"
     "    %m = stablehlo.maximum %a, %e : tensor<f32>\n    stablehlo.return %m "
     ": tensor<f32>\n  }) : (tensor<2x8x8x4xf32>, tensor<f32>) -> "
     "tensor<2x4x4x4xf32>\n",
     2},
    {"reduce", "tensor<2x4xf32>",
     "  %r = stablehlo.reduce(%d init: %zero) applies stablehlo.add across "
     "dimensions = [1, 2] : (tensor<2x8x8x4xf32>, tensor<f32>) -> "
     "tensor<2x4xf32>\n",
     1},
    {"reduce_channels", "tensor<2x8x8xf32>",
     "  %r = stablehlo.reduce(%d init: %zero) applies stablehlo.add across "
     "dimensions = [3] : (tensor<2x8x8x4xf32>, tensor<f32>) -> "
     "tensor<2x8x8xf32>\n",
     1},
    {"reduce_turned", "tensor<2x8x4xf32>",
     "  %r = stablehlo.reduce(%d init: %zero) applies stablehlo.add across "
     "dimensions = [2] : (tensor<2x8x8x4xf32>, tensor<f32>) -> "
     "tensor<2x8x4xf32>\n",
     2},
    {"pad_slice_reverse", "tensor<2x4x8x4xf32>",
     "  %p = stablehlo.pad %d, %zero, low = [0, 1, 0, 0], high = [0, 0, 2, 0], "
     "interior = [0, 0, 0, 0] : (tensor<2x8x8x4xf32>, tensor<f32>) -> "
     "tensor<2x9x10x4xf32>\n"
     "  %s = stablehlo.slice %p [0:2, 1:9:2, 2:10, 0:4] : "
     "(tensor<2x9x10x4xf32>) -> tensor<2x4x8x4xf32>\n"
     "  %r = stablehlo.reverse %s, dims = [1] : tensor<2x4x8x4xf32>\n",
     2},
    {"concatenate_convolve", "tensor<2x8x8x4xf32>",
     "  %e = stablehlo.slice %d [0:2, 0:8, 0:8, 0:2] : (tensor<2x8x8x4xf32>) "
     "-> tensor<2x8x8x2xf32>\n"
     "  %f = stablehlo.slice %d [0:2, 0:8, 0:8, 2:4] : (tensor<2x8x8x4xf32>) "
     "-> tensor<2x8x8x2xf32>\n"
     "  %g = stablehlo.concatenate %f, %e, dim = 3 : (tensor<2x8x8x2xf32>, "
     "tensor<2x8x8x2xf32>) -> tensor<2x8x8x4xf32>\n"
     "  %r = stablehlo.convolution(%g, %l) dim_numbers = [b, 0, 1, f]x[0, 1, "
     "i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, "
     "feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, "
     "tensor<1x1x4x4xf32>) -> tensor<2x8x8x4xf32>\n",
     2},
    {"batch_norm", "tensor<2x8x8x4xf32>",
     "  %o = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
     "  %r = \"stablehlo.batch_norm_inference\"(%d, %o, %o, %o, %o) {epsilon = "
     "0.01 : f32, feature_index = 3 : i64} : (tensor<2x8x8x4xf32>, "
     "tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> "
     "tensor<2x8x8x4xf32>\n",
     2},
    {"other_operand", "tensor<2x8x8x4xf32>",
     "  %i = stablehlo.iota dim = 2 : tensor<2x8x8x4xf32>\n  %q = "
     "stablehlo.compare LT, %d, %i : (tensor<2x8x8x4xf32>, "
     "tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xi1>\n"
     "  %u = stablehlo.select %q, %d, %i : tensor<2x8x8x4xi1>, "
     "tensor<2x8x8x4xf32>\n  %r = stablehlo.clamp %least, %u, %zero : "
     "(tensor<f32>, tensor<2x8x8x4xf32>, tensor<f32>) -> tensor<2x8x8x4xf32>\n",
     3},
    {"stops", "tensor<2x256xf32>",
     "  %r = stablehlo.reshape %d : (tensor<2x8x8x4xf32>) -> "
     "tensor<2x256xf32>\n",
     2},
};

class ChannelsFirstTail : public testing::TestWithParam<TailCase> {};

TEST_P(ChannelsFirstTail, KeepsTheValues) {
  Model model = parseModel(
      fill(text, {{"t", GetParam().type}, {"body", GetParam().body}}));
  freezeWeights(model);
  const Model first = model.clone();
  applyPass(first, createChannelsFirst());
  EXPECT_TRUE(succeeded(mlir::verify(first.module())));
  EXPECT_EQ(countOps(first, "stablehlo.transpose"), GetParam().transposes)
      << textOf(first);
  expectClose(run(model), run(first), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Tails, ChannelsFirstTail, testing::ValuesIn(tails),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(ChannelsFirst, LeavesWhatIsFirstAlone) {
  const Model model = parseModel(
      "func.func @main(%x: tensor<1x3x5xf32>, %k: tensor<4x3x1xf32>) -> "
      "tensor<1x4x5xf32> {\n%r = stablehlo.convolution(%x, %k) dim_numbers = "
      "[b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : "
      "i64, feature_group_count = 1 : i64} : (tensor<1x3x5xf32>, "
      "tensor<4x3x1xf32>) -> tensor<1x4x5xf32>\nreturn %r : "
      "tensor<1x4x5xf32>\n}");
  const std::string before = textOf(model);
  applyPass(model, createChannelsFirst());
  EXPECT_EQ(before, textOf(model));
}

/// A window whose body is one operation, behind a convolution of turned images.
std::string turnedWindow(const std::string &operation) {
  return fill(
      R"(func.func @main(%x: tensor<1x6x4x1xf32>, %k: tensor<1x1x1x1xf32>) -> tensor<1x4x2x1xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, 1, 0, f]x[0, 1, i, o]->[b, 1, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x6x4x1xf32>
  %r = "stablehlo.reduce_window"(%c, %zero) <{window_dimensions = array<i64: 1, 3, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %e: tensor<f32>):
    %m = stablehlo.$op %a, %e : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x6x4x1xf32>, tensor<f32>) -> tensor<1x4x2x1xf32>
  return %r : tensor<1x4x2x1xf32>
})",
      {{"op", operation}});
}

/// The same elements in another order are another number, unless they may be
/// joined in any order.
TEST(ChannelsFirst, KeepsTheOrderInWindows) {
  for (auto [operation, inOrder] : {std::pair<const char *, bool>("add", false),
                                    {"maximum", false},
                                    {"divide", true},
                                    {"atan2", true}}) {
    SCOPED_TRACE(operation);
    Model model = parseModel(turnedWindow(operation));
    freezeWeights(model);
    const Model first = model.clone();
    applyPass(first, createChannelsFirst());
    // The window of a turned image has turned sides, or the image turns back.
    const bool isTurned =
        textOf(first).find("window_dimensions = array<i64: 1, 1, 3, 3>") !=
        std::string::npos;
    EXPECT_NE(isTurned, inOrder) << textOf(first);
    expectClose(run(model), run(first), 1e-5);
  }
}

TEST(RaiseForKernels, FindsThePoolsOfNetworksWithChannelsLast) {
  Model model =
      parseModel(fill(text, {{"t", tails[1].type}, {"body", tails[1].body}}));
  freezeWeights(model);
  const std::vector<Tensor> before = run(model);
  auto report = raiseForKernels(model);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(countOps(model, "nn.max_pool"), 1) << textOf(model);
  expectClose(before, run(model), 1e-5);
}

} // namespace
