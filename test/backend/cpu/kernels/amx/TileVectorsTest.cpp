// Layers on matrix units, which are emulated, whose unusual numbers one
// subroutine multiplies, against the oracle.
//
// Covers: backend/cpu/kernels/amx TileVectors

#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/TileTests.h"

#include "backend/cpu/program/Compiler.h"

#include <cmath>
#include <limits>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Where products are on matrix units whatever they take.
cpu::CpuOptions onTiles(unsigned threads) {
  cpu::CpuOptions options;
  options.target = *cpu::hostWithTiles();
  cpu::preferTiles(*options.target);
  options.onCode = cpu::emulateTiles;
  options.threads = threads;
  return options;
}

/// `%RESULT` = `%INPUT`, rows of \p k, times a matrix of \p n columns.
std::string productOf(const std::string &result, const std::string &input,
                      int64_t rows, int64_t k, int64_t n) {
  auto floats = [](int64_t a, int64_t b) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "xf32>";
  };
  const std::string w = "%w" + result, matrix = floats(k, n);
  return w + "i = stablehlo.iota dim = 0 : " + matrix + "\n" + w +
         "j = stablehlo.iota dim = 1 : " + matrix + "\n" + w +
         "p = stablehlo.multiply " + w + "i, " + w + "j : " + matrix + "\n" +
         w + " = stablehlo.sine " + w + "p : " + matrix + "\n%" + result +
         " = stablehlo.dot %" + input + ", " + w + " : (" + floats(rows, k) +
         ", " + matrix + ") -> " + floats(rows, n) + "\n";
}

/// Two products of one input, of which the second is of \p columns.
std::string twoProducts(int64_t rows, int64_t columns) {
  const std::string x = "tensor<" + std::to_string(rows) + "x40xf32>",
                    a = "tensor<" + std::to_string(rows) + "x70xf32>",
                    b = "tensor<" + std::to_string(rows) + "x" +
                        std::to_string(columns) + "xf32>";
  return "(%x: " + x + ") -> (" + a + ", " + b + ") {\n" +
         productOf("a", "x", rows, 40, 70) +
         productOf("b", "x", rows, 40, columns) + "return %a, %b : " + a +
         ", " + b + "\n}";
}

/// As the oracle's but for \p bound of the greatest number, infinities and NaN
/// where it has these.
void expectAlike(const Tensor &actual, const Tensor &expected, float bound) {
  ASSERT_EQ(actual.size(), expected.size());
  float greatest = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (std::isfinite(expected.at<float>(i)))
      greatest = std::max(greatest, std::abs(expected.at<float>(i)));
  for (int64_t i = 0; i < actual.size(); ++i) {
    const float got = actual.at<float>(i), wanted = expected.at<float>(i);
    if (std::isfinite(wanted))
      ASSERT_NEAR(got, wanted, bound * greatest) << i;
    else if (std::isnan(wanted))
      ASSERT_TRUE(std::isnan(got)) << i << ": " << got;
    else
      ASSERT_EQ(got, wanted) << i;
  }
}

/// Compiles \p text, to so many \p objects if that is said, and runs it on
/// numbers of \p shape, of which a few are unusual.
void check(const std::string &text, const Shape &shape, size_t objects,
           unsigned threads) {
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  Result<cpu::Compiled> compiled =
      cpu::compileToObjects(model, onTiles(threads));
  ASSERT_TRUE(compiled) << compiled.error().message();
  if (objects)
    EXPECT_EQ(compiled->objects.size(), objects);
  Result<Program> program = cpu::linkProgram(std::move(*compiled));
  ASSERT_TRUE(program) << program.error().message();
  auto executor =
      executorOf(std::make_shared<const Program>(std::move(*program)), threads);
  ASSERT_TRUE(executor);
  for (float unusual :
       {0x1p100f, -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    SCOPED_TRACE(unusual);
    Tensor numbers(ElementType::F32, shape);
    fillRandom(numbers, 3);
    for (int64_t i : {int64_t(5), numbers.size() / 2, numbers.size() - 1})
      numbers.set<float>(i, unusual);
    auto expected = interpret(model.entry(), {numbers});
    ASSERT_TRUE(expected) << expected.error().message();
    auto actual = executor->run(std::vector<Tensor>{numbers});
    ASSERT_TRUE(actual) << actual.error().message();
    ASSERT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < actual->size(); ++i)
      expectAlike((*actual)[i], (*expected)[i], 1e-4f);
  }
}

TEST(TileVectors, ProductsShareASubroutine) {
  NEEDS_TILES();
  for (unsigned threads : {1u, 2u}) {
    SCOPED_TRACE(threads);
    // Two kernels and what both call; of one kernel it is in its own code.
    {
      SCOPED_TRACE("of 70 and 20 columns");
      check(twoProducts(33, 20), {33, 40}, 3, threads);
    }
    check(twoProducts(33, 70), {33, 40}, 1, threads);
  }
}

TEST(TileVectors, ConvolutionsOfSeveralWindows) {
  NEEDS_TILES();
  for (int64_t groups : {1, 4}) {
    SCOPED_TRACE(groups);
    ImageText text(/*opensBatch=*/false, /*opensArea=*/false, 2);
    ImageText::Image x = text.input(32, 9, 11);
    ImageText::Image y = text.convolution(x, 48, {.groups = groups});
    y = text.add(y, text.convolution(
                        x, 48, {.size = 1, .padding = 0, .groups = groups}));
    y = text.convolution(
        y, 20, {.size = 5, .stride = 2, .padding = 1, .groups = groups});
    y = text.convolution(y, 33, {.size = 1, .stride = 2, .padding = 0});
    check(text.finish(y), {2, 32, 9, 11}, 0, 2);
  }
}

} // namespace
