//===- ConvolutionColumnsTest.cpp - convolutions of few outputs -----------===//
//
// Convolutions whose windows' columns become outputs, of drawn shapes, against
// the oracle, and the same of images whose size is not known.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/layout ConvolutionColumns

#include "backend/cpu/layout/ConvolutionColumns.h"
#include "backend/cpu/ConstantText.h"
#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/ProgramText.h"

#include <random>

using namespace sinter;
using namespace sinter::test;

namespace {

std::string pairText(int64_t a, int64_t b) {
  return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
}

/// "[b, f, 0]x[o, i, 0]->[b, f, 0]", or of images.
std::string imageNumbers(size_t spatial) {
  const std::string rest = spatial == 1 ? "0]" : "0, 1]";
  return "[b, f, " + rest + "x[o, i, " + rest + "->[b, f, " + rest;
}

TEST(ConvolutionColumns, OfDrawnShapes) {
  std::mt19937 random(3);
  auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  int64_t found = 0;
  for (int round = 0; round < 40; ++round) {
    const size_t spatial = round % 4 == 0 ? 1 : 2;
    Shape input = {draw(1, 2), draw(10, 40)}, result = {input[0], draw(1, 5)};
    Shape kernel = {result[1], input[1]};
    std::string strides, pads, dilations;
    for (size_t i = 0; i < spatial; ++i) {
      const bool isWidth = i + 1 == spatial;
      const int64_t size = draw(isWidth ? 2 : 1, 7), low = draw(-1, 3),
                    high = draw(0, 3), dilation = draw(1, 2),
                    stride = isWidth ? 1 : draw(1, 2),
                    reach = (size - 1) * dilation;
      input.push_back(reach + draw(2, 30));
      kernel.push_back(size);
      result.push_back((input.back() + low + high - reach - 1) / stride + 1);
      const std::string comma = i == 0 ? "" : ", ";
      strides += comma + std::to_string(stride);
      dilations += comma + std::to_string(dilation);
      pads += comma + pairText(low, high);
    }
    const std::string to = typeOf(result);
    const std::string body =
        "(%x: " + typeOf(input) + ") -> " + to +
        " {\n%k = " + weights(kernel, "f32", 1) +
        "\n%c = stablehlo.convolution(%x, %k) dim_numbers = " +
        imageNumbers(spatial) + ", window = {stride = [" + strides +
        "], pad = [" + pads + "], rhs_dilate = [" + dilations +
        "]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
        typeOf(input) + ", " + typeOf(kernel) + ") -> " + to +
        "\n%t = stablehlo.tanh %c : " + to + "\nreturn %t : " + to + "\n}";
    Model model = parseModel(body);
    model.entry().walk([&](stablehlo::ConvolutionOp op) {
      found += cpu::hasColumnsForOutputs(op, 16);
    });
    EXPECT_EQ(differs(body, {1e-4, 1e-4}), "")
        << body.substr(0, 80) << strides << pads << dilations;
  }
  EXPECT_GT(found, 10);
}

/// What is not better so stays.
TEST(ConvolutionColumns, StayWhereTheyAreFewOrLong) {
  auto isTaken = [](const Shape &kernel, const std::string &window,
                    const std::string &result, int64_t groups = 1) {
    const std::string input =
        "tensor<1x" + std::to_string(kernel[1] * groups) + "x20x20xf32>";
    Model model = parseModel(
        "(%x: " + input + ", %k: " + typeOf(kernel) + ") -> " + result +
        " {\n%c = stablehlo.convolution(%x, %k) dim_numbers = " +
        imageNumbers(2) + ", window = {" + window +
        "} {batch_group_count = 1 : i64, feature_group_count = " +
        std::to_string(groups) + " : i64} : (" + input + ", " + typeOf(kernel) +
        ") -> " + result + "\nreturn %c : " + result + "\n}");
    bool taken = false;
    model.entry().walk([&](stablehlo::ConvolutionOp op) {
      taken = cpu::hasColumnsForOutputs(op, 16);
    });
    return taken;
  };
  EXPECT_TRUE(isTaken({3, 32, 3, 3}, "", "tensor<1x3x18x18xf32>"));
  EXPECT_FALSE(isTaken({3, 32, 3, 1}, "", "tensor<1x3x18x20xf32>"));
  EXPECT_FALSE(isTaken({3, 8, 3, 3}, "", "tensor<1x3x18x18xf32>"));
  EXPECT_FALSE(isTaken({11, 32, 3, 3}, "", "tensor<1x11x18x18xf32>"));
  EXPECT_FALSE(
      isTaken({3, 32, 3, 3}, "stride = [1, 2]", "tensor<1x3x18x9xf32>"));
  EXPECT_FALSE(
      isTaken({3, 32, 3, 3}, "lhs_dilate = [2, 1]", "tensor<1x3x37x18xf32>"));
  EXPECT_FALSE(isTaken({4, 32, 3, 3}, "", "tensor<1x4x18x18xf32>", 2));
}

TEST(ConvolutionColumns, OfImagesOfAnySize) {
  const Shape kernel = {3, 20, 5, 3};
  DynamicCase test;
  test.body =
      "(" + argument("%x", {batch, 20, length, length}) +
      ") -> tensor<?x3x?x?xf32> {\n%k = " + weights(kernel, "f32", 1) +
      "\n%c = stablehlo.convolution(%x, %k) dim_numbers = " + imageNumbers(2) +
      ", window = {pad = [[2, 2], [1, 1]]} {batch_group_count = 1 : "
      "i64, feature_group_count = 1 : i64} : (tensor<?x20x?x?xf32>, " +
      typeOf(kernel) +
      ") -> tensor<?x3x?x?xf32>\n%t = stablehlo.tanh %c : "
      "tensor<?x3x?x?xf32>\nreturn %t : tensor<?x3x?x?xf32>\n}";
  test.inputs = {{batch, 20, length, length}};
  test.lengths = {1, 2, 9, 40};
  test.relative = test.absolute = 1e-4;
  checkProgram(test, {});
}

} // namespace
