//===- NormInBlocksTest.cpp - norms between convolutions ------------------===//
//
// Norms of groups of channels between convolutions of images and of rows,
// against the oracle, of known sizes and others.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/layout NormInBlocks

#include "backend/cpu/ConstantText.h"
#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/ProgramText.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// convolution -> group_norm -> relu -> convolution, of images or rows whose
/// sizes may be open.
std::string normNetwork(int64_t channels, int64_t groups, bool isRow,
                        const std::vector<int64_t> &input) {
  auto shaped = [&](int64_t depth) {
    std::vector<int64_t> shape = input;
    shape[1] = depth;
    return typeOf(shape);
  };
  const std::string c = std::to_string(channels), rest = isRow ? "0]" : "0, 1]",
                    numbers = "[b, f, " + rest + "x[o, i, " + rest +
                              "->[b, f, " + rest,
                    pad = isRow ? "[[1, 1]]" : "[[1, 1], [1, 1]]";
  auto convolution = [&](const std::string &to, const std::string &from,
                         int64_t outputs, int64_t inputs) {
    Shape kernel = {outputs, inputs, 3, 3};
    if (isRow)
      kernel.pop_back();
    return "\n" + to + "w = " + weights(kernel, "f32", outputs) + "\n" + to +
           " = stablehlo.convolution(" + from + ", " + to +
           "w) dim_numbers = " + numbers + ", window = {pad = " + pad +
           "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
           "(" +
           shaped(inputs) + ", " + typeOf(kernel) + ") -> " + shaped(outputs);
  };
  const std::string wide = shaped(channels), vector = "tensor<" + c + "xf32>";
  return "(" + argument("%x", input) + ") -> " + shaped(24) + " {" +
         convolution("%a", "%x", channels, input[1]) +
         "\n%s = " + weights({channels}, "f32", 3) +
         "\n%b = " + weights({channels}, "f32", 4) +
         "\n%n = nn.group_norm %a, %s, %b groups = " + std::to_string(groups) +
         " {epsilon = 1.0e-5 : f64} : (" + wide + ", " + vector + ", " +
         vector + ") -> " + wide + "\n%r = stablehlo.logistic %n : " + wide +
         convolution("%c", "%r", 24, channels) + "\nreturn %c : " + shaped(24) +
         "\n}";
}

constexpr Tolerance normTolerance = {2e-4, 2e-4};

TEST(NormInBlocks, OfEveryNumberOfGroups) {
  for (const bool isRow : {false, true})
    for (auto [channels, groups] : {std::pair<int64_t, int64_t>(32, 32),
                                    {32, 4},
                                    {32, 1},
                                    {20, 20},
                                    {20, 5},
                                    {48, 3}}) {
      std::vector<int64_t> input = {2, 20, 9, 11};
      if (isRow)
        input.pop_back();
      EXPECT_EQ(
          differs(normNetwork(channels, groups, isRow, input), normTolerance),
          "")
          << channels << " channels, " << groups << " groups, row " << isRow;
    }
}

TEST(NormInBlocks, OfAnySize) {
  for (const bool isRow : {false, true})
    for (const int64_t groups : {20, 4}) {
      SCOPED_TRACE(groups);
      DynamicCase test;
      test.inputs = {{batch, 20, length, length}};
      if (isRow)
        test.inputs[0].pop_back();
      test.body = normNetwork(20, groups, isRow, test.inputs[0]);
      test.lengths = {1, 2, 9, 30};
      test.isAsClosed = false;
      test.relative = test.absolute = 3e-4;
      checkProgram(test, {});
    }
}

} // namespace
