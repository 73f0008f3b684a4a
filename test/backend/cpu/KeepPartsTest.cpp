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
