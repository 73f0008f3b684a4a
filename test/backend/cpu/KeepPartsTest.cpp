// What keep-parts leaves between products and convolutions on matrix units,
// which are emulated, against the oracle.

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/TileTests.h"

#include "runtime/Program.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// What is wrong with \p body, of whose steps so many store or read parts.
std::string partsWrong(const std::string &body, int64_t storing,
                       int64_t reading, cpu::CpuOptions options = {},
                       Tolerance tolerance = {4e-4, 4e-4}) {
  cpu::Target target = *cpu::hostWithTiles();
  cpu::preferTiles(target);
  options.target = target;
  options.onCode = cpu::emulateTiles;
  std::shared_ptr<Program> program;
  if (std::string what = differsWith(body, tolerance, options, &program);
      !what.empty())
    return what;
  int64_t stored = 0, read = 0;
  std::string text;
  for (const Step &step : program->steps) {
    stored += llvm::StringRef(step.op).contains("cut_parts");
    read += llvm::StringRef(step.op).contains("join_parts");
    text += " " + step.op;
  }
  return stored == storing && read == reading ? "" : "computed by" + text;
}

std::string floats(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

/// `%NAME`, a constant of numbers between -1 and 1.
std::string weights(const std::string &name,
                    std::initializer_list<int64_t> shape) {
  int64_t size = 1;
  for (int64_t each : shape)
    size *= each;
  const std::string flat = floats({size}), n = "%" + name;
  return n + "0 = stablehlo.iota dim = 0 : " + flat + "\n" + n +
         "1 = stablehlo.constant dense<0.734> : " + flat + "\n" + n +
         "2 = stablehlo.multiply " + n + "0, " + n + "1 : " + flat + "\n" + n +
         "3 = stablehlo.sine " + n + "2 : " + flat + "\n" + n +
         " = stablehlo.reshape " + n + "3 : (" + flat + ") -> " +
         floats(shape) + "\n";
}

std::string productOf(const std::string &result, const std::string &lhs,
                      const std::string &rhs, int64_t m, int64_t n, int64_t k) {
  return "%" + result + " = stablehlo.dot %" + lhs + ", %" + rhs + " : (" +
         floats({m, k}) + ", " + floats({k, n}) + ") -> " + floats({m, n}) +
         "\n";
}

/// tanh(x * w) * v.
std::string twoLayers(int64_t m, int64_t k, int64_t n, int64_t last) {
  return "(%x: " + floats({m, k}) + ") -> " + floats({m, last}) + " {\n" +
         weights("w", {k, n}) + weights("v", {n, last}) +
         productOf("a", "x", "w", m, n, k) +
         "%b = stablehlo.tanh %a : " + floats({m, n}) + "\n" +
         productOf("c", "b", "v", m, last, n) +
         "return %c : " + floats({m, last}) + "\n}";
}

TEST(KeepParts, BetweenProducts) {
  NEEDS_TILES();
  for (auto [m, k, n, last] :
       {std::tuple{1, 20, 17, 5}, {33, 40, 70, 33}, {50, 33, 128, 40}})
    EXPECT_EQ(partsWrong(twoLayers(m, k, n, last), 1, 1), "")
        << m << "x" << k << "x" << n;
}

std::string convolutionOf(const std::string &result, const std::string &input,
                          const std::string &kernel,
                          std::array<int64_t, 4> from,
                          std::array<int64_t, 4> weights, int64_t padding) {
  const int64_t height = from[2] + 2 * padding - weights[2] + 1,
                width = from[3] + 2 * padding - weights[3] + 1;
  const std::string pad = std::to_string(padding);
  return "%" + result + " = stablehlo.convolution(%" + input + ", %" + kernel +
         ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
         "{pad = [[" +
         pad + ", " + pad + "], [" + pad + ", " + pad +
         "]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
         "(" +
         floats({from[0], from[1], from[2], from[3]}) + ", " +
         floats({weights[0], weights[1], weights[2], weights[3]}) + ") -> " +
         floats({from[0], weights[0], height, width}) + "\n";
}

/// A window of \p size, tanh, and a second convolution by a window of \p last.
std::string twoConvolutions(int64_t channels, int64_t middle, int64_t height,
                            int64_t width, int64_t size, int64_t last) {
  const int64_t padding = size / 2, images = 2, outputs = 33;
  const std::string between = floats({images, middle, height, width}),
                    results = floats({images, outputs, height, width});
  return "(%x: " + floats({images, channels, height, width}) + ") -> " +
         results + " {\n" + weights("w", {middle, channels, size, size}) +
         weights("v", {outputs, middle, last, last}) +
         convolutionOf("a", "x", "w", {images, channels, height, width},
                       {middle, channels, size, size}, padding) +
         "%b = stablehlo.tanh %a : " + between + "\n" +
         convolutionOf("c", "b", "v", {images, middle, height, width},
                       {outputs, middle, last, last}, last / 2) +
         "return %c : " + results + "\n}";
}

/// Behind a window, whose tiles are of each row of an image, and behind one
/// pixel; also where the last block has no channels for some of its lanes.
TEST(KeepParts, BetweenConvolutions) {
  NEEDS_TILES();
  for (auto [channels, middle, height, width, size] :
       {std::tuple{32, 48, 5, 19, 3}, {32, 40, 7, 7, 1}, {16, 64, 6, 9, 3}})
    EXPECT_EQ(
        partsWrong(twoConvolutions(channels, middle, height, width, size, 1), 1,
                   1),
        "")
        << middle << "x" << height << "x" << width << " by " << size;
}

/// What lies outside of an image has no place in parts.
TEST(KeepParts, NotForWindows) {
  NEEDS_TILES();
  EXPECT_EQ(partsWrong(twoConvolutions(32, 32, 6, 7, 1, 3), 0, 0), "");
}

/// What is too large to be cut is stored as it is by the tile that it is in,
/// and multiplied in f32, with others of its row that are put together again.
TEST(KeepParts, UnusualNumbers) {
  NEEDS_TILES();
  const int64_t m = 20, k = 32, n = 70, last = 17;
  const std::string y = floats({m, n});
  for (const char *large : {"0x7149F2CA", "0xDD5E0B6B"}) // 1e30, -1e18
    EXPECT_EQ(
        partsWrong(
            "(%x: " + floats({m, k}) + ") -> " + floats({m, last}) + " {\n" +
                weights("w", {k, n}) + weights("v", {n, last}) +
                productOf("a", "x", "w", m, n, k) +
                "%i = stablehlo.iota dim = 1 : " + y +
                "\n%j = stablehlo.constant dense<37.0> : " + y +
                "\n%l = stablehlo.constant dense<" + large + "> : " + y +
                "\n%e = stablehlo.compare EQ, %i, %j : (" + y + ", " + y +
                ") -> tensor<20x70xi1>" +
                "\n%b = stablehlo.select %e, %l, %a : tensor<20x70xi1>, " + y +
                "\n" + productOf("c", "b", "v", m, last, n) +
                "return %c : " + floats({m, last}) + "\n}",
            1, 1),
        "")
        << large;
}

TEST(KeepParts, CanBeLeftOut) {
  NEEDS_TILES();
  cpu::CpuOptions options;
  options.passes.disabledPatterns = {"keep-parts"};
  EXPECT_EQ(partsWrong(twoLayers(33, 40, 70, 33), 0, 0, options), "");
}

/// Three parts take half as much memory again as f32, and one has none of the
/// bits that an unusual number would need.
TEST(KeepParts, OnlyTwo) {
  NEEDS_TILES();
  for (auto [precision, tolerance] :
       {std::pair{Precision::Exact, 4e-5}, {Precision::BFloat16, 3e-1}}) {
    cpu::CpuOptions options;
    options.precision = precision;
    EXPECT_EQ(partsWrong(twoLayers(20, 40, 70, 33), 0, 0, options,
                         {tolerance, tolerance}),
              "");
  }
}

} // namespace
