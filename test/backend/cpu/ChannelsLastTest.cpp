//===- ChannelsLastTest.cpp - networks as other frameworks export them ----===//

#include "backend/cpu/CompareWithInterpreter.h"
#include "runtime/Program.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Two convolutions, a pool and a mean over pixels, channels last.
const char *network = R"((%a: tensor<1x12x12x3xf32>) -> tensor<1x20xf32> {
  %w1 = stablehlo.constant dense<0.125> : tensor<3x3x3x20xf32>
  %c1 = stablehlo.convolution(%a, %w1) dim_numbers =
      [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window =
      {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64,
      feature_group_count = 1 : i64}
      : (tensor<1x12x12x3xf32>, tensor<3x3x3x20xf32>) -> tensor<1x12x12x20xf32>
  %b = stablehlo.iota dim = 0 : tensor<20xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [3]
      : (tensor<20xf32>) -> tensor<1x12x12x20xf32>
  %s = stablehlo.subtract %c1, %bb : tensor<1x12x12x20xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<1x12x12x20xf32>
  %r = stablehlo.maximum %s, %zero : tensor<1x12x12x20xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = "stablehlo.reduce_window"(%r, %low) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3, 3, 1>,
      window_strides = array<i64: 1, 2, 2, 1>,
      padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}
      : (tensor<1x12x12x20xf32>, tensor<f32>) -> tensor<1x6x6x20xf32>
  %w2 = stablehlo.constant dense<0.25> : tensor<1x1x20x20xf32>
  %c2 = stablehlo.convolution(%p, %w2) dim_numbers =
      [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window =
      {stride = [1, 1]} {batch_group_count = 1 : i64,
      feature_group_count = 1 : i64}
      : (tensor<1x6x6x20xf32>, tensor<1x1x20x20xf32>) -> tensor<1x6x6x20xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%c2 init: %init) applies stablehlo.add
      across dimensions = [1, 2]
      : (tensor<1x6x6x20xf32>, tensor<f32>) -> tensor<1x20xf32>
  return %sum : tensor<1x20xf32>
})";

} // namespace

TEST(ChannelsLast, NetworkIsRight) {
  EXPECT_EQ(differs(network, {1e-4, 1e-4}), "");
}

TEST(ChannelsLast, OnlyTheInputIsTransposed) {
  Result<Program> program = cpu::compileForCpu(parseModel(network), {});
  ASSERT_TRUE(bool(program));
  int transposes = 0, pools = 0;
  for (const Step &step : program->steps) {
    transposes += step.op.find("transpose") != std::string::npos;
    pools += step.kernelName == "pool";
  }
  EXPECT_LE(transposes, 2);
  EXPECT_EQ(pools, 1);
}
