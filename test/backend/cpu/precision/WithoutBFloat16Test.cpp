//===- WithoutBFloat16Test.cpp - roundings to bf16, bit by bit ------------===//
//
// What is rounded to bf16 with an instruction for it or without, whatever the
// numbers, against the conversion of runtime/Float.h and against the oracle.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/precision BFloat16Roundings
// Covers: backend/cpu/codegen ExpandBFloat16

#include "backend/cpu/CompareWithInterpreter.h"
#include "runtime/Float.h"
#include "runtime/ProgramExecutor.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

std::vector<std::optional<cpu::Target>> hostAndLesserTargets() {
  std::vector<std::optional<cpu::Target>> all = {std::nullopt};
  for (const cpu::Target &target : lesserTargets())
    all.push_back(target);
  return all;
}

/// What \p body makes of \p inputs, compiled for \p target.
std::vector<Tensor> resultsOf(const std::string &body,
                              const std::vector<Tensor> &inputs,
                              const std::optional<cpu::Target> &target) {
  cpu::CpuOptions options;
  options.target = target;
  Result<Program> program = cpu::compileForCpu(parseModel(body), options);
  EXPECT_TRUE(program) << program.error().message();
  if (!program)
    return {};
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(executor) << executor.error().message();
  auto results = (*executor)->run(inputs);
  EXPECT_TRUE(results) << results.error().message();
  return results ? *results : std::vector<Tensor>();
}

/// Every sign and exponent with what decides how the lower half is rounded;
/// denormal numbers, which kernels may take for zero, are left out.
std::vector<float> floatsOfAllKinds() {
  std::vector<float> numbers;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    const uint32_t exponent = upper >> 7 & 0xff, mantissa = upper & 0x7f;
    const bool isAtEdge = mantissa <= 2 || mantissa >= 0x7d ||
                          (mantissa >= 0x3e && mantissa <= 0x41);
    if (exponent == 0 ? mantissa != 0 : !isAtEdge)
      continue;
    for (uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      if (exponent != 0 || lower == 0)
        numbers.push_back(std::bit_cast<float>(upper << 16 | lower));
  }
  return numbers;
}

Tensor tensorOf(ElementType type, const std::vector<float> &numbers) {
  Tensor tensor(type, {int64_t(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i)
    if (type == ElementType::BF16)
      tensor.set(int64_t(i), BFloat16(numbers[i]).bits());
    else
      tensor.set(int64_t(i), numbers[i]);
  return tensor;
}

/// The elements of \p shape ("4xT") of \p type.
std::string typeOf(const std::string &shape, const std::string &type) {
  return "tensor<" + shape + "x" + type + ">";
}

TEST(WithoutBFloat16, OfAnyFloat) {
  const std::vector<float> numbers = floatsOfAllKinds();
  const std::string size = std::to_string(numbers.size());
  const std::string wide = typeOf(size, "f32"), narrow = typeOf(size, "bf16");
  const std::string body =
      "(%x: " + wide + ") -> (" + narrow + ", " + wide +
      ") {\n%0 = stablehlo.convert %x : (" + wide + ") -> " + narrow +
      "\n%1 = stablehlo.convert %0 : (" + narrow + ") -> " + wide +
      "\nreturn %0, %1 : " + narrow + ", " + wide + "\n}";
  for (const std::optional<cpu::Target> &target : hostAndLesserTargets()) {
    const std::vector<Tensor> got =
        resultsOf(body, {tensorOf(ElementType::F32, numbers)}, target);
    ASSERT_EQ(got.size(), 2U);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const BFloat16 rounded(numbers[i]);
      const auto bits = got[0].at<uint16_t>(int64_t(i));
      const auto widened = got[1].at<float>(int64_t(i));
      if (std::isnan(numbers[i])) {
        EXPECT_GT(bits & 0x7fff, 0x7f80) << i;
        EXPECT_TRUE(std::isnan(widened)) << i;
        continue;
      }
      ASSERT_EQ(bits, rounded.bits())
          << std::hex << std::bit_cast<uint32_t>(numbers[i]);
      ASSERT_EQ(std::bit_cast<uint32_t>(widened), uint32_t(bits) << 16);
    }
  }
}

/// Chains of operations that each round, of any two numbers of bf16.
TEST(WithoutBFloat16, OfWhatArithmeticMakes) {
  std::vector<float> left, right;
  constexpr uint32_t some[] = {0x0000, 0x8000, 0x3f80, 0x3f81, 0xbf95,
                               0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7fff,
                               0xffff, 0x7f81, 0x4b7f, 0x0081, 0xc2fe};
  for (uint32_t upper = 0x80; upper < 0x10000; upper += 5)
    if ((upper & 0x7f80) != 0)
      for (uint32_t other : some) {
        left.push_back(std::bit_cast<float>(upper << 16));
        right.push_back(std::bit_cast<float>(other << 16));
      }
  const std::string type = typeOf(std::to_string(left.size()), "bf16");
  const std::string body = "(%x: " + type + ", %y: " + type + ") -> " + type +
                           " {\n%0 = stablehlo.multiply %x, %y : " + type +
                           "\n%1 = stablehlo.add %0, %x : " + type +
                           "\n%2 = stablehlo.subtract %1, %y : " + type +
                           "\n%3 = stablehlo.maximum %2, %x : " + type +
                           "\n%4 = stablehlo.add %3, %0 : " + type +
                           "\n%5 = stablehlo.negate %4 : " + type +
                           "\nreturn %5 : " + type + "\n}";
  auto rounded = [](float number) {
    return static_cast<float>(BFloat16(number));
  };
  for (const std::optional<cpu::Target> &target : hostAndLesserTargets()) {
    Tensor x = tensorOf(ElementType::BF16, left),
           y = tensorOf(ElementType::BF16, right);
    const std::vector<Tensor> got = resultsOf(body, {x, y}, target);
    ASSERT_EQ(got.size(), 1U);
    for (size_t i = 0; i < left.size(); ++i) {
      const float a = static_cast<float>(BFloat16(left[i])),
                  b = static_cast<float>(BFloat16(right[i]));
      const float product = rounded(a * b);
      const float sum = rounded(rounded(product + a) - b);
      const float greater = std::isnan(sum) || std::isnan(a)
                                ? std::numeric_limits<float>::quiet_NaN()
                                : std::max(sum, a);
      const float expected = -rounded(greater + product);
      const auto result = got[0].toDouble(int64_t(i));
      auto isTiny = [](float number) {
        return number != 0 && std::abs(number) < 0x1p-110f;
      };
      if (isTiny(product) || isTiny(sum) || isTiny(expected))
        continue;
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(result)) << a << " " << b;
      else
        ASSERT_EQ(result, double(expected)) << a << " " << b;
    }
  }
}

/// A NaN among what is summed up is a NaN in the sum, whatever its bits are.
TEST(WithoutBFloat16, OfSumsWithNaN) {
  for (const char *given : {"bf16", "f32"}) {
    const std::string x = typeOf("16x32", given), w = typeOf("32x24", "f32"),
                      y = typeOf("16x24", "f32"), z = typeOf("16x24", "bf16");
    const std::string body =
        "(%x: " + x + ") -> " + z +
        " {\n%w = stablehlo.constant dense<0.5> : " + w +
        "\n%0 = stablehlo.convert %x : (" + x + ") -> " +
        typeOf("16x32", "f32") +
        "\n%1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : "
        "(" +
        typeOf("16x32", "f32") + ", " + w + ") -> " + y +
        "\n%2 = stablehlo.convert %1 : (" + y + ") -> " + z +
        "\nreturn %2 : " + z + "\n}";
    constexpr uint32_t nan[] = {0x7fffffff, 0xffffffff, 0x7fc00000, 0xffc00000,
                                0x7fffe000, 0x7f800001, 0x7fff8000, 0x7fff0000};
    const bool isNarrow = given == std::string("bf16");
    Tensor input(isNarrow ? ElementType::BF16 : ElementType::F32, {16, 32});
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t i = 0; i < 32; ++i) {
        const auto number = float(row + i) / 8;
        const uint32_t bits = row % 2 == 1 && i == row
                                  ? nan[row / 2]
                                  : std::bit_cast<uint32_t>(number);
        // Rounded without regard to what it is: all of these stay NaN.
        if (isNarrow)
          input.set(row * 32 + i, uint16_t((bits >> 16) | (bits & 1)));
        else
          input.set(row * 32 + i, bits);
      }
    for (const std::optional<cpu::Target> &target : hostAndLesserTargets()) {
      const std::vector<Tensor> got = resultsOf(body, {input}, target);
      ASSERT_EQ(got.size(), 1U);
      for (int64_t row = 0; row < 16; ++row)
        for (int64_t i = 0; i < 24; ++i)
          EXPECT_EQ(std::isnan(got[0].toDouble(row * 24 + i)), row % 2 == 1)
              << given << " row " << row;
    }
  }
}

} // namespace
