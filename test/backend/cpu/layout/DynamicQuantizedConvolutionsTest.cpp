//===- DynamicQuantizedConvolutionsTest.cpp - int8, of dynamic images -----===//
//
// Convolutions of 8-bit integers with a zero point, of images whose number,
// height and width are dynamic: what pads them counts as the zero point, at
// each edge, by every kernel.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/DynamicCase.h"

using namespace sinter;
using namespace sinter::test;

namespace {

struct QuantizedConvolution {
  std::string name;
  /// [N, C, spatial...], `batch` and `length` where they are dynamic.
  std::vector<int64_t> input;
  /// [K, C / groups, window...]
  std::vector<int64_t> kernel;
  int64_t low = 1, high = 1, stride = 1, dilation = 1, groups = 1;
  std::string storage = "u8";
  int64_t zeroPoint = 100;
};

void PrintTo(const QuantizedConvolution &test, std::ostream *os) {
  *os << test.name;
}

std::string inputTypeOf(const std::vector<int64_t> &shape,
                        const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

/// An integer of the input may be the next one, where a float rounds the sum of
/// a quotient and the zero point to the middle of two (docs/quantization.md);
/// weights are at most 100 steps of 0.01. A wrong zero point is more than that.
constexpr double oneStep = 0.03 * 1.01;

DynamicCase caseOf(const QuantizedConvolution &test) {
  const size_t rank = test.input.size() - 2;
  auto list = [&](const std::string &one) {
    std::string text = one;
    for (size_t i = 1; i < rank; ++i)
      text += ", " + one;
    return "[" + text + "]";
  };
  auto dims = [&](const std::string &first, const std::string &second) {
    std::string text = "[" + first + ", " + second;
    for (size_t i = 0; i < rank; ++i)
      text += ", " + std::to_string(i);
    return text + "]";
  };
  std::vector<int64_t> result = {test.input[0], test.kernel[0]};
  for (size_t i = 0; i < rank; ++i)
    result.push_back(test.input[i + 2] < 0
                         ? length
                         : (test.input[i + 2] + test.low + test.high -
                            (test.kernel[i + 2] - 1) * test.dilation - 1) /
                                   test.stride +
                               1);
  const std::string x = inputTypeOf(test.input, "f32"),
                    k = inputTypeOf(test.kernel, "f32"),
                    qx = inputTypeOf(test.input,
                                     "!quant.uniform<" + test.storage +
                                         ":f32, 0.03:" +
                                         std::to_string(test.zeroPoint) + ">"),
                    qk = inputTypeOf(
                        test.kernel,
                        "!quant.uniform<" + test.storage + ":f32, 0.01:" +
                            (test.storage == "u8" ? "128" : "0") + ">"),
                    qy = inputTypeOf(result, "!quant.uniform<i32:f32, 0.0003>"),
                    y = inputTypeOf(result, "f32");
  const std::string pad =
      "[" + std::to_string(test.low) + ", " + std::to_string(test.high) + "]";
  return {test.name,
          "(" + argument("%x", test.input) + ") -> " + y +
              " {\n %q = stablehlo.uniform_quantize %x : (" + x + ") -> " + qx +
              "\n %i = stablehlo.iota dim = 0 : " + k +
              "\n %j = stablehlo.iota dim = " +
              std::to_string(test.kernel.size() - 1) + " : " + k +
              "\n %a = stablehlo.add %i, %j : " + k +
              "\n %f = stablehlo.sine %a : " + k +
              "\n %w = stablehlo.uniform_quantize %f : (" + k + ") -> " + qk +
              "\n %p = stablehlo.convolution(%q, %w) dim_numbers = " +
              dims("b", "f") + "x" + dims("o", "i") + "->" + dims("b", "f") +
              ", window = {stride = " + list(std::to_string(test.stride)) +
              ", pad = " + list(pad) +
              ", rhs_dilate = " + list(std::to_string(test.dilation)) +
              "} {batch_group_count = 1 : i64, feature_group_count = " +
              std::to_string(test.groups) + " : i64} : (" + qx + ", " + qk +
              ") -> " + qy + "\n %y = stablehlo.uniform_dequantize %p : (" +
              qy + ") -> " + y + "\n return %y : " + y + "\n}",
          {test.input},
          {0, 4, 5, 8, 17, 40},
          /*isAsClosed=*/true,
          /*relative=*/3e-5,
          oneStep};
}

const QuantizedConvolution quantizedConvolutions[] = {
    {"1-D", {batch, 4, length}, {6, 4, 3}},
    {"1-D, i8", {batch, 4, length}, {6, 4, 3}, 1, 1, 1, 1, 1, "i8", -17},
    {"1-D, many channels", {batch, 40, length}, {24, 40, 3}},
    {"1-D, one side", {batch, 8, length}, {16, 8, 3}, 0, 2},
    {"1-D, strides", {batch, 8, length}, {16, 8, 5}, 2, 2, 2},
    {"1-D, dilations", {batch, 8, length}, {16, 8, 3}, 2, 2, 1, 2},
    {"1-D, groups", {batch, 32, length}, {32, 16, 3}, 1, 1, 1, 1, 2},
    {"1-D, depthwise", {batch, 32, length}, {32, 1, 3}, 1, 1, 1, 1, 32},
    {"2-D", {batch, 8, length, length}, {16, 8, 3, 3}},
    {"2-D, i8",
     {batch, 8, length, length},
     {16, 8, 3, 3},
     1,
     1,
     1,
     1,
     1,
     "i8",
     3},
    {"2-D, width", {batch, 8, 7, length}, {16, 8, 3, 3}},
    {"2-D, height", {batch, 8, length, 7}, {16, 8, 3, 3}},
    {"2-D, strides", {batch, 16, length, length}, {32, 16, 3, 3}, 1, 1, 2},
    {"2-D, depthwise",
     {batch, 16, length, length},
     {16, 1, 5, 5},
     2,
     2,
     1,
     1,
     16},
    {"2-D, few channels", {batch, 3, length, length}, {16, 3, 3, 3}},
    {"2-D, groups of several",
     {batch, 24, length, length},
     {12, 6, 3, 3},
     1,
     1,
     1,
     1,
     4},
};

class DynamicQuantizedConvolutions
    : public testing::TestWithParam<QuantizedConvolution> {};

} // namespace

TEST_P(DynamicQuantizedConvolutions, AreRight) {
  checkProgram(caseOf(GetParam()), {});
}

TEST_P(DynamicQuantizedConvolutions, AreRightOnLesserMachines) {
  for (const cpu::Target &target : lesserTargets()) {
    SCOPED_TRACE(target.cpu);
    cpu::CpuOptions options;
    options.target = target;
    checkProgram(caseOf(GetParam()), options);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DynamicQuantizedConvolutions,
                         testing::ValuesIn(quantizedConvolutions));
