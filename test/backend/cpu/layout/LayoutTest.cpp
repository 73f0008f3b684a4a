//===- LayoutTest.cpp - blocked activations and generated kernels ---------===//
//
// Convolutions, pools and products, with constant weights and others, through
// the whole backend, with what surrounds them, against the oracle.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/emit BlockedKernel ChannelWindows PoolKernel
// Covers: backend/cpu/layout AbsorbTransposes AssignLayouts AssignWindows
// Covers: backend/cpu/layout RowsAsImages
// Covers: backend/cpu/weights ComputeWeights
// Covers: backend/cpu/layout ConvolutionForm ConvolutionPhases
// Covers: backend/cpu/layout ConvolutionProduct PlainConvolution
// Covers: backend/cpu/weights PackWeights

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ConstantText.h"
#include "backend/cpu/ProgramText.h"
#include "backend/cpu/WithoutMatrixUnits.h"
#include "backend/cpu/kernels/conv/Winograd.h"
#include "backend/cpu/program/Compiler.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"
#include "runtime/Tensor.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// One convolution with a bias and a relu behind it; the kernel is a constant
/// or an argument.
struct ConvolutionLayout {
  Shape input, kernel, result;
  std::string numbers, window;
  int64_t groups = 1;
};

std::string moduleOf(const ConvolutionLayout &test,
                     bool hasConstantKernel = true) {
  std::string result = typeOf(test.result);
  size_t feature = test.numbers.ends_with("f]") ? test.result.size() - 1 : 1;
  Shape bias = {test.result[feature]};
  std::string kernel = weights(test.kernel, "f32", 1);
  return "(%x: " + typeOf(test.input) +
         (hasConstantKernel ? "" : ", %k: " + typeOf(test.kernel)) + ") -> " +
         result + " {\n" + (hasConstantKernel ? "%k = " + kernel : "") +
         "\n%b = " + weights(bias, "f32", 2) +
         "\n%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
         "%c = stablehlo.convolution(%x, %k) dim_numbers = " +
         test.numbers + ", window = {" + test.window +
         "} {batch_group_count = 1 : i64, feature_group_count = " +
         std::to_string(test.groups) + " : i64} : (" + typeOf(test.input) +
         ", " + typeOf(test.kernel) + ") -> " + result +
         "\n%w = stablehlo.broadcast_in_dim %b, dims = [" +
         std::to_string(feature) + "] : (" + typeOf(bias) + ") -> " + result +
         "\n%s = stablehlo.add %c, %w : " + result +
         "\n%o = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> " +
         result + "\n%r = stablehlo.maximum %s, %o : " + result +
         "\nreturn %r : " + result + "\n}";
}

constexpr Tolerance close = {1e-4, 1e-3};
const std::string nchw = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";

TEST(Layout, ConvolutionsOfEveryKind) {
  const ConvolutionLayout cases[] = {
      {{1, 3, 13, 11},
       {20, 3, 3, 3},
       {1, 20, 13, 11},
       nchw,
       "pad = [[1, 1], [1, 1]]"},
      {{2, 32, 9, 7}, {48, 32, 1, 1}, {2, 48, 9, 7}, nchw, ""},
      {{1, 17, 10, 12},
       {33, 17, 3, 2},
       {1, 33, 5, 6},
       nchw,
       "stride = [2, 2], pad = [[0, 1], [1, 0]]"},
      {{1, 16, 15, 15},
       {16, 16, 3, 3},
       {1, 16, 11, 11},
       nchw,
       "rhs_dilate = [2, 2]"},
      // Large enough for Winograd's method.
      {{1, 64, 29, 27},
       {64, 64, 3, 3},
       {1, 64, 29, 27},
       nchw,
       "pad = [[1, 1], [1, 1]]"},
      {{1, 256, 14, 14},
       {256, 256, 3, 3},
       {1, 256, 14, 14},
       nchw,
       "pad = [[1, 1], [1, 1]]"},
      // Reversed windows.
      {{1, 32, 8, 8},
       {32, 32, 3, 2},
       {1, 32, 6, 7},
       nchw,
       "reverse = [true, true]"},
      // Channels last, weights [0, 1, i, o].
      {{1, 8, 9, 24},
       {3, 3, 24, 40},
       {1, 8, 9, 40},
       "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
       "pad = [[1, 1], [1, 1]]"},
      // One spatial dimension.
      {{2, 20, 31},
       {36, 20, 5},
       {2, 36, 16},
       "[b, f, 0]x[o, i, 0]->[b, f, 0]",
       "stride = [2], pad = [[2, 2]]"},
      // Depthwise, grouped by whole blocks, grouped by less.
      {{1, 40, 9, 9},
       {40, 1, 3, 3},
       {1, 40, 9, 9},
       nchw,
       "pad = [[1, 1], [1, 1]]",
       40},
      {{1, 64, 7, 7}, {32, 32, 3, 3}, {1, 32, 5, 5}, nchw, "", 2},
      {{1, 24, 7, 7}, {36, 8, 1, 1}, {1, 36, 7, 7}, nchw, "", 3},
      {{1, 32, 7, 7}, {64, 8, 3, 2}, {1, 64, 5, 6}, nchw, "", 4},
      {{1, 12, 7, 7},
       {24, 1, 3, 3},
       {1, 24, 7, 7},
       nchw,
       "pad = [[1, 1], [1, 1]]",
       12},
      // Transposed: the window is as large as the dilation.
      {{1, 32, 5, 6},
       {20, 32, 2, 3},
       {1, 20, 10, 18},
       nchw,
       "pad = [[1, 1], [2, 2]], lhs_dilate = [2, 3]"},
      {{1, 32, 5, 6},
       {32, 20, 2, 2},
       {1, 20, 10, 12},
       "[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]",
       "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], reverse = [true, true]"},
      // What the blocked kernels do not take.
      {{1, 16, 5, 6},
       {16, 16, 3, 3},
       {1, 16, 11, 13},
       nchw,
       "pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]"},
      {{1, 4, 5, 6, 5},
       {8, 4, 2, 3, 2},
       {1, 8, 4, 4, 4},
       "[b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2]",
       ""},
      {{1, 16, 6, 6},
       {16, 16, 3, 3},
       {1, 16, 3, 2},
       nchw,
       "pad = [[-1, 0], [-1, -1]]"},
  };
  for (const ConvolutionLayout &test : cases)
    for (bool hasConstantKernel : {true, false}) {
      std::string text = moduleOf(test, hasConstantKernel);
      EXPECT_EQ(differs(text, close), "") << text.substr(0, 90);
    }
}

TEST(Layout, WinogradOnlyWhereAllowed) {
  const Model model = parseModel(moduleOf({{1, 64, 56, 56},
                                           {64, 64, 3, 3},
                                           {1, 64, 56, 56},
                                           nchw,
                                           "pad = [[1, 1], [1, 1]]"}));
  for (Precision precision :
       {Precision::Exact, Precision::Default, Precision::BFloat16}) {
    cpu::CpuOptions options = optionsWithoutMatrixUnits();
    options.precision = precision;
    Result<Program> program = cpu::compileForCpu(model, options);
    ASSERT_TRUE(program) << program.error().message();
    bool isUsed = false;
    for (const Step &step : program->steps)
      isUsed |= cpu::Winograd::formOf(step.kernelName) != nullptr;
    EXPECT_EQ(isUsed, precision != Precision::Exact);
  }
}

/// A convolution in rounds, in a program, on one and two threads.
TEST(Layout, WinogradInRounds) {
  const std::string body = moduleOf({{1, 192, 100, 100},
                                     {192, 192, 3, 3},
                                     {1, 192, 100, 100},
                                     nchw,
                                     "pad = [[1, 1], [1, 1]]"});
  const Model model = parseModel(body);
  cpu::CpuOptions options = optionsWithoutMatrixUnits();
  options.target->l2Bytes = 256 << 10;
  Result<Program> program = cpu::compileForCpu(model, options);
  ASSERT_TRUE(program) << program.error().message();
  const auto rounds = llvm::count_if(program->steps, [](const Step &step) {
    return cpu::Winograd::formOf(step.kernelName) != nullptr;
  });
  EXPECT_GT(rounds, 6);
  EXPECT_EQ(rounds % 3, 0);
  auto run = [&](std::shared_ptr<const Program> compiled, unsigned threads) {
    auto executor = ProgramExecutor::create(
        std::move(compiled), std::make_shared<ThreadPool>(threads));
    EXPECT_TRUE(executor) << executor.error().message();
    Tensor input(ElementType::F32, {1, 192, 100, 100});
    fillRandom(input, 3);
    return std::move((*(*executor)->run(std::span(&input, 1)))[0]);
  };
  auto inRounds = std::make_shared<Program>(std::move(*program));
  options.precision = Precision::Exact;
  Result<Program> direct = cpu::compileForCpu(model, options);
  ASSERT_TRUE(direct);
  const Tensor one = run(inRounds, 1), two = run(inRounds, 2),
               expected = run(std::make_shared<Program>(std::move(*direct)), 2);
  double largest = 0, error = 0;
  for (int64_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(one.at<float>(i), two.at<float>(i));
    largest = std::max(largest, std::abs(expected.toDouble(i)));
    error = std::max(error, std::abs(one.toDouble(i) - expected.toDouble(i)));
  }
  EXPECT_LE(error, 1e-4 * largest);
}

TEST(Layout, PacksWeightsThatAreArguments) {
  const Model model =
      parseModel(moduleOf({{1, 64, 56, 56},
                           {3, 3, 64, 96},
                           {1, 96, 54, 54},
                           "[b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1]",
                           ""},
                          /*hasConstantKernel=*/false));
  Result<Program> program = cpu::compileForCpu(model, {});
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_TRUE(llvm::any_of(program->steps, [](const Step &step) {
    return step.kernelName == "direct";
  }));
}

/// A residual block, a branch, pools and a concatenation, to a vector.
TEST(Layout, NetworkWithBranches) {
  std::string text =
      "(%x: tensor<1x3x20x20xf32>) -> tensor<1x40xf32> {\n%k0 = " +
      weights({32, 3, 3, 3}, "f32", 1) +
      "\n%k1 = " + weights({32, 32, 3, 3}, "f32", 2) +
      "\n%k2 = " + weights({8, 32, 1, 1}, "f32", 3) + R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.convolution(%x, %k0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x3x20x20xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x20x20xf32>
    %1 = nn.silu %0 : tensor<1x32x20x20xf32>
    %2 = stablehlo.convolution(%1, %k1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x32x20x20xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x20x20xf32>
    %3 = stablehlo.add %2, %1 : tensor<1x32x20x20xf32>
    %4 = nn.relu %3 : tensor<1x32x20x20xf32>
    %5 = nn.max_pool %4, window = [3, 3] strides = [2, 2] {dilations = array<i64: 1, 1>,
        padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>}
        : (tensor<1x32x20x20xf32>) -> tensor<1x32x10x10xf32>
    %6 = nn.average_pool %4, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>,
        padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, count_padding = false}
        : (tensor<1x32x20x20xf32>) -> tensor<1x32x10x10xf32>
    %7 = stablehlo.convolution(%6, %k2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x32x10x10xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x10x10xf32>
    %8 = stablehlo.concatenate %5, %7, dim = 1
        : (tensor<1x32x10x10xf32>, tensor<1x8x10x10xf32>) -> tensor<1x40x10x10xf32>
    %9 = stablehlo.reduce(%8 init: %z) applies stablehlo.add across dimensions = [2, 3]
        : (tensor<1x40x10x10xf32>, tensor<f32>) -> tensor<1x40xf32>
    return %9 : tensor<1x40xf32>
  })";
  EXPECT_EQ(differs(text, close), "");
}

/// Behind a convolution whose channels do not fill their blocks.
TEST(Layout, WhatKeepsChannelsApart) {
  const struct {
    const char *text, *type;
  } cases[] = {
      {R"(%s = "stablehlo.reduce_window"(%c, %z) <{window_dimensions = array<i64: 1, 1, 3, 2>,
          window_strides = array<i64: 1, 1, 2, 1>, padding = dense<[[0, 0], [0, 0], [1, 0], [0, 1]]> : tensor<4x2xi64>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32> }) : (tensor<2x20x8x6xf32>, tensor<f32>) -> tensor<2x20x4x6xf32>)",
       "tensor<2x20x4x6xf32>"},
      // Along channels it stays.
      {R"(%s = "stablehlo.reduce_window"(%c, %z) <{window_dimensions = array<i64: 1, 4, 1, 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32> }) : (tensor<2x20x8x6xf32>, tensor<f32>) -> tensor<2x17x8x6xf32>)",
       "tensor<2x17x8x6xf32>"},
      {"%s = stablehlo.slice %c [0:2, 0:20, 1:7:2, 2:6] : "
       "(tensor<2x20x8x6xf32>) -> tensor<2x20x3x4xf32>",
       "tensor<2x20x3x4xf32>"},
      {"%s = stablehlo.slice %c [1:2, 3:19, 0:8, 0:6] : (tensor<2x20x8x6xf32>) "
       "-> tensor<1x16x8x6xf32>",
       "tensor<1x16x8x6xf32>"},
      {"%s = stablehlo.reverse %c, dims = [2, 3] : tensor<2x20x8x6xf32>",
       "tensor<2x20x8x6xf32>"},
      {"%s = stablehlo.reverse %c, dims = [1] : tensor<2x20x8x6xf32>",
       "tensor<2x20x8x6xf32>"},
      {"%s = stablehlo.concatenate %c, %e, dim = 2 : (tensor<2x20x8x6xf32>, "
       "tensor<2x20x8x6xf32>) -> tensor<2x20x16x6xf32>",
       "tensor<2x20x16x6xf32>"},
      {"%s = stablehlo.concatenate %y, %c, dim = 0 : (tensor<1x20x8x6xf32>, "
       "tensor<2x20x8x6xf32>) -> tensor<3x20x8x6xf32>",
       "tensor<3x20x8x6xf32>"},
      {"%s = stablehlo.pad %c, %z, low = [0, 0, 1, -1], high = [1, 0, 0, 2], "
       "interior = [0, 0, 1, 0] : (tensor<2x20x8x6xf32>, tensor<f32>) -> "
       "tensor<3x20x16x7xf32>",
       "tensor<3x20x16x7xf32>"},
      {"%s = stablehlo.reduce(%c init: %z) applies stablehlo.maximum across "
       "dimensions = [2, 3] : (tensor<2x20x8x6xf32>, tensor<f32>) -> "
       "tensor<2x20xf32>",
       "tensor<2x20xf32>"},
      // These have no blocks of channels any more.
      {"%s = stablehlo.reduce(%c init: %z) applies stablehlo.add across "
       "dimensions = [0, 2] : (tensor<2x20x8x6xf32>, tensor<f32>) -> "
       "tensor<20x6xf32>",
       "tensor<20x6xf32>"},
      {"%s = stablehlo.reduce(%c init: %z) applies stablehlo.add across "
       "dimensions = [1, 2] : (tensor<2x20x8x6xf32>, tensor<f32>) -> "
       "tensor<2x6xf32>",
       "tensor<2x6xf32>"},
      {"%s = stablehlo.reduce(%c init: %z) applies stablehlo.add across "
       "dimensions = [3] : (tensor<2x20x8x6xf32>, tensor<f32>) -> "
       "tensor<2x20x8xf32>",
       "tensor<2x20x8xf32>"},
  };
  for (const auto &[text, type] : cases) {
    SCOPED_TRACE(text);
    const std::string body =
        "(%x: tensor<2x3x8x6xf32>, %y: tensor<1x20x8x6xf32>) -> " +
        std::string(type) + " {\n%k = " + weights({20, 3, 3, 3}, "f32", 1) + R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %c = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x3x8x6xf32>, tensor<20x3x3x3xf32>) -> tensor<2x20x8x6xf32>
    %e = stablehlo.exponential %c : tensor<2x20x8x6xf32>
    )" + text +
        "\n%r = stablehlo.tanh %s : " + type + "\nreturn %r : " + type + "\n}";
    EXPECT_EQ(differs(body, close), "");
  }
}

/// An epilogue whose place in the product has more than two dimensions, and
/// operands that are read through a transpose.
/// Of blocks that are full and of one that is not, in any number of rows.
TEST(Layout, MinMaxOfAllChannels) {
  for (int64_t images : {1, 3})
    for (int64_t channels : {16, 20, 32, 48})
      for (int64_t size : {3, 4, 7, 8}) {
        const std::string result = typeOf({images, channels, size, size}),
                          input = typeOf({images, 5, size, size});
        std::string body =
            "(%x: " + input + ") -> (tensor<f32>, tensor<f32>) {\n%k = " +
            weights({channels, 5, 3, 3}, "f32", 7) +
            "\n%c = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, "
            "1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} "
            "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
            input + ", " + typeOf({channels, 5, 3, 3}) + ") -> " + result +
            "\n%l = stablehlo.constant dense<0x7F800000> : tensor<f32>\n"
            "%g = stablehlo.constant dense<0xFF800000> : tensor<f32>\n";
        for (auto [name, from, by] :
             {std::tuple{"%m", "%l", "minimum"}, {"%n", "%g", "maximum"}})
          body += std::string(name) + " = stablehlo.reduce(%c init: " + from +
                  ") applies stablehlo." + by +
                  " across dimensions = [0, 1, 2, 3] : (" + result +
                  ", tensor<f32>) -> tensor<f32>\n";
        EXPECT_EQ(differs(body + "return %m, %n : tensor<f32>, tensor<f32>\n}"),
                  "")
            << images << " of " << channels << ", " << size;
      }
}

TEST(Layout, ProductsWithEpilogues) {
  std::string text = "(%x: tensor<2x5x24xf32>, %y: tensor<2x5x40xf32>) -> "
                     "tensor<2x5x40xf32> {\n%k = " +
                     weights({24, 40}, "f32", 1) +
                     "\n%b = " + weights({40}, "f32", 2) + R"(
    %0 = stablehlo.dot_general %x, %k, contracting_dims = [2] x [0]
        : (tensor<2x5x24xf32>, tensor<24x40xf32>) -> tensor<2x5x40xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<40xf32>) -> tensor<2x5x40xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x5x40xf32>
    %3 = nn.gelu %2 {approximate = false} : tensor<2x5x40xf32>
    %4 = stablehlo.add %3, %y : tensor<2x5x40xf32>
    return %4 : tensor<2x5x40xf32>
  })";
  EXPECT_EQ(differs(text, close), "");
  EXPECT_EQ(
      differs(
          R"((%q: tensor<2x7x3x16xf32>, %k: tensor<2x9x3x16xf32>, %m: tensor<2x1x1x9xf32>)
      -> tensor<2x3x7x9xf32> {
    %0 = stablehlo.transpose %q, dims = [0, 2, 1, 3] : (tensor<2x7x3x16xf32>) -> tensor<2x3x7x16xf32>
    %1 = stablehlo.transpose %k, dims = [0, 2, 3, 1] : (tensor<2x9x3x16xf32>) -> tensor<2x3x16x9xf32>
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
        : (tensor<2x3x7x16xf32>, tensor<2x3x16x9xf32>) -> tensor<2x3x7x9xf32>
    %3 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2, 3] : (tensor<2x1x1x9xf32>) -> tensor<2x3x7x9xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x3x7x9xf32>
    return %4 : tensor<2x3x7x9xf32>
  })",
          close),
      "");
}

/// Element types and dimensions that no kernel takes as they are. The products
/// are large enough to be worth bringing into form.
TEST(Layout, ProductsThatAreBroughtIntoForm) {
  struct {
    const char *lhs, *rhs, *result, *dims;
  } cases[] = {
      {"20x40xbf16", "40x30xbf16", "20x30xbf16",
       "contracting_dims = [1] x [0]"},
      {"20x40xf16", "40x30xf16", "20x30xf32", "contracting_dims = [1] x [0]"},
      {"20x40xf8E4M3FN", "40x30xf8E4M3FN", "20x30xbf16",
       "contracting_dims = [1] x [0]"},
      {"20x40xf32", "40x30xf32", "20x30xf64", "contracting_dims = [1] x [0]"},
      // Sums within f32, within f64, and beyond the result.
      {"20x40xi8", "40x30xi8", "20x30xi32", "contracting_dims = [1] x [0]"},
      {"3x4000xi8", "4000x5xi8", "3x5xi32", "contracting_dims = [1] x [0]"},
      {"20x40xui8", "40x30xui8", "20x30xui32", "contracting_dims = [1] x [0]"},
      {"20x40xi16", "40x30xi16", "20x30xi64", "contracting_dims = [1] x [0]"},
      {"20x40xi32", "40x30xi32", "20x30xi32", "contracting_dims = [1] x [0]"},
      {"20x40xi8", "40x30xi8", "20x30xi8", "contracting_dims = [1] x [0]"},
      {"20x40xi4", "40x30xi4", "20x30xi32", "contracting_dims = [1] x [0]"},
      {"20x40xi1", "40x30xi1", "20x30xi1", "contracting_dims = [1] x [0]"},
      {"20x40xcomplex<f32>", "40x30xcomplex<f32>", "20x30xcomplex<f32>",
       "contracting_dims = [1] x [0]"},
      // Vectors, on either side, with batches.
      {"90x70xf32", "70xf32", "90xf32", "contracting_dims = [1] x [0]"},
      {"70x90xf64", "70x1xf64", "90x1xf64", "contracting_dims = [0] x [0]"},
      {"70xf32", "70x90xf32", "90xf32", "contracting_dims = [0] x [0]"},
      {"2x3x1x16xf32", "2x3x50x16xf32", "2x3x1x50xf32",
       "batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]"},
      {"1x3x16x2xf32", "16x9x3x8x2xf32", "2x3x1x9x8xf32",
       "batching_dims = [3, 1] x [4, 2], contracting_dims = [2] x [0]"},
      {"3000xf32", "3000xf32", "f32", "contracting_dims = [0] x [0]"},
      // Contracted and free dimensions that do not lie side by side.
      {"2x3x7x16xf32", "3x16x20xf32", "2x7x20xf32",
       "contracting_dims = [1, 3] x [0, 1]"},
      {"7x3x16x5xf32", "16x6x7x4xf32", "7x3x5x6x4xf32",
       "batching_dims = [0] x [2], contracting_dims = [2] x [0]"},
      {"3x16x5x8xf32", "8x6x16x4xf32", "3x5x6x4xf32",
       "contracting_dims = [3, 1] x [0, 2]"},
  };
  for (auto &[lhs, rhs, result, dims] : cases) {
    auto type = [](const char *of) {
      return "tensor<" + std::string(of) + ">";
    };
    std::string text = "(%x: " + type(lhs) + ", %y: " + type(rhs) + ") -> " +
                       type(result) +
                       " {\n%0 = stablehlo.dot_general %x, %y, " + dims +
                       " : (" + type(lhs) + ", " + type(rhs) + ") -> " +
                       type(result) + "\nreturn %0 : " + type(result) + "\n}";
    EXPECT_EQ(differs(text, close), "") << text;
  }
}

TEST(Layout, ProductsOfEveryShape) {
  struct {
    Shape lhs, rhs, result;
    const char *dims;
    bool isConstant;
  } cases[] = {
      {{1, 70}, {70, 33}, {1, 33}, "contracting_dims = [1] x [0]", true},
      {{37, 70}, {33, 70}, {37, 33}, "contracting_dims = [1] x [1]", true},
      // Rows that are far apart.
      {{37, 70}, {70, 300}, {37, 300}, "contracting_dims = [1] x [0]", false},
      {{70, 37}, {70, 33}, {37, 33}, "contracting_dims = [0] x [0]", false},
      {{3, 5, 4},
       {3, 4, 6},
       {3, 5, 6},
       "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
       false},
      {{5, 3, 4},
       {6, 3, 4},
       {3, 5, 6},
       "batching_dims = [1] x [1], contracting_dims = [2] x [2]",
       false},
      {{4, 3, 5},
       {3, 5, 6},
       {4, 6},
       "contracting_dims = [1, 2] x [0, 1]",
       true},
      {{4, 5}, {6, 7}, {4, 5, 6, 7}, "contracting_dims = [] x []", false},
      {{2, 1, 8},
       {8, 1, 1},
       {2, 1, 1, 1},
       "contracting_dims = [2] x [0]",
       false},
  };
  for (auto &[lhs, rhs, result, dims, isConstant] : cases) {
    std::string types =
        " : (" + typeOf(lhs) + ", " + typeOf(rhs) + ") -> " + typeOf(result);
    std::string right = isConstant ? "" : ", %w: " + typeOf(rhs);
    std::string text =
        "(%x: " + typeOf(lhs) + right + ") -> " + typeOf(result) + " {\n" +
        (isConstant ? "%w = " + weights(rhs, "f32", 3) + "\n" : "") +
        "%0 = stablehlo.dot_general %x, %w, " + dims + types +
        "\nreturn %0 : " + typeOf(result) + "\n}";
    EXPECT_EQ(differs(text, close), "") << dims << types;
  }
}

} // namespace
