// What is computed on the results of a product reads other tensors, the
// product's own operands among them.
//
// Covers: backend/cpu/emit RootKernel RootKernels

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

#include <atomic>

namespace sinter::test {
namespace {

std::string numbers(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") +
            llvm::formatv("{0:F3}", (i * 37 % 23) / 7. - 1.5).str();
  return text;
}

/// A constant tensor of \p shape ("3x5") with as many numbers.
std::string weight(const std::string &shape, int64_t count) {
  return "%f = stablehlo.constant dense<[" + numbers(count) + "]> : tensor<" +
         std::to_string(count) + "xf32>\n%w = stablehlo.reshape %f : (tensor<" +
         std::to_string(count) + "xf32>) -> tensor<" + shape + "xf32>\n";
}

/// A map whose region sorts has no vectors: it is no part of an epilogue.
TEST(Epilogue, MapsByARegionWithControlFlow) {
  for (int64_t columns : {1, 5, 16, 37}) {
    std::string w = "tensor<4x" + std::to_string(columns) + "xf32>";
    std::string result = "tensor<3x" + std::to_string(columns) + "xf32>";
    EXPECT_EQ(differs("(%x: tensor<3x4xf32>, %w: " + w + ", %b: " + result +
                      ") -> " + result +
                      " {\n%d = stablehlo.dot %x, %w : (tensor<3x4xf32>, " + w +
                      ") -> " + result + "\n%r = \"stablehlo.map\"(%d, %b) ({" +
                      R"(
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %i = stablehlo.reshape %p : (tensor<f32>) -> tensor<1xf32>
          %j = stablehlo.reshape %q : (tensor<f32>) -> tensor<1xf32>
          %c = stablehlo.concatenate %i, %j, dim = 0
              : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %s = "stablehlo.sort"(%c) ({
            ^bb0(%l: tensor<f32>, %g: tensor<f32>):
              %o = stablehlo.compare LT, %l, %g : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %o : tensor<i1>
          }) {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
          %t = stablehlo.slice %s [1:2] : (tensor<2xf32>) -> tensor<1xf32>
          %u = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
          stablehlo.return %u : tensor<f32>
        }) {dimensions = array<i64: 0, 1>} : ()" +
                      result + ", " + result + ") -> " + result +
                      "\nreturn %r : " + result + " }"),
              "")
        << columns;
  }
}

/// Nor have complex numbers.
TEST(Epilogue, ComputesComplexNumbers) {
  for (int64_t columns : {1, 5, 16, 37}) {
    std::string sizes = std::to_string(columns) + "x";
    std::string w = "tensor<4x" + sizes + "f32>";
    std::string result = "tensor<3x" + sizes + "f32>";
    std::string complex = "tensor<3x" + sizes + "complex<f32>>";
    EXPECT_EQ(
        differs("(%x: tensor<3x4xf32>, %w: " + w + ", %b: " + result + ") -> " +
                result + " {\n%d = stablehlo.dot %x, %w : (tensor<3x4xf32>, " +
                w + ") -> " + result + "\n%c = stablehlo.complex %d, %b : " +
                complex + "\n%m = stablehlo.multiply %c, %c : " + complex +
                "\n%r = stablehlo.real %m : (" + complex + ") -> " + result +
                "\nreturn %r : " + result + " }"),
        "")
        << columns;
  }
}

/// The weights of a product are packed; who reads them beside it wants them as
/// they are.
TEST(Epilogue, ReadsTheWeights) {
  for (auto [rows, columns] : {std::pair{3, 2}, {16, 16}, {40, 40}, {33, 65}}) {
    std::string w = std::to_string(rows) + "x" + std::to_string(columns);
    std::string square = std::to_string(rows) + "x" + std::to_string(rows);
    for (const char *operation :
         {"maximum %w, %d", "subtract %w, %d", "multiply %d, %w"})
      EXPECT_EQ(differs("(%x: tensor<" + square + "xf32>) -> tensor<" + w +
                        "xf32> {\n" + weight(w, rows * columns) +
                        "%d = stablehlo.dot %x, %w : (tensor<" + square +
                        "xf32>, tensor<" + w + "xf32>) -> tensor<" + w +
                        "xf32>\n%r = stablehlo." + operation + " : tensor<" +
                        w + "xf32>\nreturn %r : tensor<" + w + "xf32> }"),
                "")
          << w << " " << operation;
  }
}

/// Weights of one number are a constant inside of the kernel for all but the
/// product.
TEST(Epilogue, ReadsWeightsOfOneNumber) {
  EXPECT_EQ(differs(R"((%x: tensor<3x3xf32>) -> tensor<3x2xf32> {
%w = stablehlo.constant dense<0.5> : tensor<3x2xf32>
%d = stablehlo.dot %x, %w : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
%r = stablehlo.maximum %w, %d : tensor<3x2xf32>
return %r : tensor<3x2xf32> })"),
            "");
}

/// Both operands are the same weights.
TEST(Epilogue, ProductOfWeightsWithThemselves) {
  std::string w = weight("24x24", 576);
  EXPECT_EQ(
      differs(
          "(%x: tensor<24x24xf32>) -> tensor<24x24xf32> {\n" + w +
          R"(%d = stablehlo.dot %w, %w : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
%s = stablehlo.add %d, %x : tensor<24x24xf32>
%r = stablehlo.add %s, %w : tensor<24x24xf32>
return %r : tensor<24x24xf32> })"),
      "");
}

/// Of a convolution over one place with one image the result has the form of
/// the weights.
TEST(Epilogue, ReadsTheWeightsOfAConvolution) {
  for (int64_t channels : {4, 16, 48}) {
    std::string n = std::to_string(channels), t = n + "x" + n + "x1x1";
    EXPECT_EQ(
        differs("(%x: tensor<" + t + "xf32>) -> tensor<" + t + "xf32> {\n" +
                weight(t, channels * channels) +
                "%d = stablehlo.convolution(%x, %w) dim_numbers = "
                "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
                "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
                " : (tensor<" +
                t + "xf32>, tensor<" + t + "xf32>) -> tensor<" + t +
                "xf32>\n%r = stablehlo.maximum %d, %w : tensor<" + t +
                "xf32>\nreturn %r : tensor<" + t + "xf32> }"),
        "")
        << t;
  }
}

/// Results of a product leave its kernel in another type.
const char *const otherTypes[] = {"f16", "bf16", "f64", "i8", "ui8",
                                  "i16", "i32",  "i64", "i1", "f8E4M3FN"};

/// \p value of \p shape as numbers of \p type, and the function's end.
std::string converted(const std::string &shape, const std::string &type) {
  const std::string f32 = "tensor<" + shape + "xf32>",
                    to = "tensor<" + shape + "x" + type + ">";
  if (type == "i1")
    return "%z = stablehlo.constant dense<0.0> : " + f32 +
           "\n%r = stablehlo.compare GT, %d, %z : (" + f32 + ", " + f32 +
           ") -> " + to + "\nreturn %r : " + to + " }";
  return "%s = stablehlo.constant dense<7.0> : " + f32 +
         "\n%m = stablehlo.multiply %d, %s : " + f32 +
         "\n%a = stablehlo.abs %m : " + f32 +
         "\n%r = stablehlo.convert %a : (" + f32 + ") -> " + to +
         "\nreturn %r : " + to + " }";
}

/// Sums in another order may be rounded to the next number of a type.
Tolerance epilogueTolerance(const std::string &type) {
  Tolerance tolerance;
  tolerance.absolute = 2e-5;
  if (type == "f16" || type == "bf16" || type == "f8E4M3FN")
    tolerance.relative = type == "f16" ? 2e-3 : type == "bf16" ? 1e-2 : 0.13;
  return tolerance;
}

/// How many kernels compute it.
size_t kernelsOf(const std::string &body) {
  Result<Program> program = cpu::compileForCpu(parseModel(body), {});
  return program ? program->steps.size() : 0;
}

TEST(Epilogue, ConvertsTheResultsOfAProduct) {
  for (auto [rows, columns] : {std::pair{3, 2}, {20, 16}, {33, 65}})
    for (const char *type : otherTypes) {
      const std::string n = std::to_string(columns);
      const std::string w = n + "x" + n;
      const std::string t = std::to_string(rows) + "x" + n;
      const std::string body =
          "(%x: tensor<" + t + "xf32>) -> tensor<" + t + "x" + type + "> {\n" +
          weight(w, columns * columns) +
          "%d = stablehlo.dot %x, %w : (tensor<" + t + "xf32>, tensor<" + w +
          "xf32>) -> tensor<" + t + "xf32>\n" + converted(t, type);
      EXPECT_EQ(differs(body, epilogueTolerance(type)), "") << t << " " << type;
      // Conversions to half precision are an instruction; others read the
      // results in a loop of their own.
      const bool isHalf = std::string_view(type).ends_with("f16");
      EXPECT_EQ(kernelsOf(body), isHalf ? 1u : 2u) << t << " " << type;
    }
}

TEST(Epilogue, ConvertsTheResultsOfAConvolution) {
  for (const char *groups : {"1", "32"})
    for (const char *type : otherTypes) {
      const std::string inputs = groups == std::string("1") ? "32" : "1";
      const std::string w = "32x" + inputs + "x1x1", t = "1x32x24x24";
      const std::string body =
          "(%x: tensor<" + t + "xf32>) -> tensor<" + t + "x" + type + "> {\n" +
          weight(w, inputs == "32" ? 1024 : 32) +
          "%d = stablehlo.convolution(%x, %w) dim_numbers = "
          "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
          "{batch_group_count = 1 : i64, feature_group_count = " +
          groups + " : i64} : (tensor<" + t + "xf32>, tensor<" + w +
          "xf32>) -> tensor<" + t + "xf32>\n" + converted(t, type);
      EXPECT_EQ(differs(body, epilogueTolerance(type)), "")
          << groups << " " << type;
      // It is packed before and unpacked behind.
      EXPECT_EQ(kernelsOf(body), 3u) << groups << " " << type;
    }
}

/// How often code for \p cpu rounds to bf16 behind a product with a bias.
size_t roundingsOn(const char *cpu, const std::string &features) {
  const std::string t = "tensor<28x64xf32>", h = "tensor<28x64xbf16>";
  const Model model = parseModel(
      "(%x: " + t + ", %b: " + t + ") -> " + h + " {\n" +
      weight("64x64", 64 * 64) + "%d = stablehlo.dot %x, %w : (" + t +
      ", tensor<64x64xf32>) -> " + t + "\n%s = stablehlo.add %d, %b : " + t +
      "\n%r = stablehlo.convert %s : (" + t + ") -> " + h +
      "\nreturn %r : " + h + "\n}");
  cpu::CpuOptions options;
  options.target =
      *cpu::Target::named("x86_64-unknown-linux-gnu", cpu, features);
  std::atomic<size_t> count = 0;
  options.onCode = [&](mlir::ModuleOp module) {
    module.walk([&](mlir::arith::TruncFOp) { ++count; });
  };
  EXPECT_TRUE(cpu::compileToObjects(model, options));
  return count;
}

/// Where no instruction rounds to bf16, that takes many: the rows of a tile
/// have a loop.
TEST(Epilogue, RoundsToBF16InALoop) {
  const size_t loops = roundingsOn("x86-64-v3", "");
  EXPECT_GE(loops, 1u);
  EXPECT_LE(loops, 8u);
  EXPECT_GE(roundingsOn("x86-64-v4", "+avx512bf16"), 14u);
}

/// SiLU of \p d of \p shape, added to %x, and the function's end.
std::string activated(const std::string &shape) {
  const std::string t = "tensor<" + shape + "xf32>";
  return "%l = stablehlo.logistic %d : " + t +
         "\n%m = stablehlo.multiply %d, %l : " + t +
         "\n%r = stablehlo.add %m, %x : " + t + "\nreturn %r : " + t + " }";
}

Tolerance ofSums() {
  Tolerance tolerance;
  tolerance.absolute = 2e-4;
  return tolerance;
}

/// Functions take many instructions: a loop over the rows of a tile computes
/// them, whatever its size.
TEST(Epilogue, ComputesFunctionsOfProducts) {
  for (int64_t rows : {1, 2, 7, 33})
    for (int64_t columns : {1, 5, 16, 40, 100}) {
      const std::string n = std::to_string(columns);
      const std::string t = std::to_string(rows) + "x" + n, w = n + "x" + n;
      EXPECT_EQ(differs("(%x: tensor<" + t + "xf32>) -> tensor<" + t +
                            "xf32> {\n" + weight(w, columns * columns) +
                            "%d = stablehlo.dot %x, %w : (tensor<" + t +
                            "xf32>, tensor<" + w + "xf32>) -> tensor<" + t +
                            "xf32>\n" + activated(t),
                        ofSums()),
                "")
          << t;
    }
}

TEST(Epilogue, ComputesFunctionsOfConvolutions) {
  struct Case {
    int64_t channels, groups, kernel, size;
  };
  // The last two by Winograd's method.
  for (Case c : {Case{3, 1, 1, 1},
                 {16, 1, 1, 30},
                 {40, 1, 3, 9},
                 {20, 20, 3, 17},
                 {32, 32, 5, 8},
                 {64, 1, 3, 24},
                 {64, 1, 3, 26}}) {
    const std::string n = std::to_string(c.channels);
    const std::string k = std::to_string(c.kernel);
    const std::string size = std::to_string(c.size);
    const std::string pad = std::to_string(c.kernel / 2);
    const int64_t inputs = c.channels / c.groups;
    const std::string t = "1x" + n + "x" + size + "x" + size;
    const std::string w = n + "x" + std::to_string(inputs) + "x" + k + "x" + k;
    EXPECT_EQ(
        differs("(%x: tensor<" + t + "xf32>) -> tensor<" + t + "xf32> {\n" +
                    weight(w, c.channels * inputs * c.kernel * c.kernel) +
                    "%d = stablehlo.convolution(%x, %w) dim_numbers = "
                    "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
                    "{pad = [[" +
                    pad + ", " + pad + "], [" + pad + ", " + pad +
                    "]]} {batch_group_count = 1 : i64, feature_group_count = " +
                    std::to_string(c.groups) + " : i64} : (tensor<" + t +
                    "xf32>, tensor<" + w + "xf32>) -> tensor<" + t + "xf32>\n" +
                    activated(t),
                ofSums()),
        "")
        << t << " " << w;
  }
}

/// Complex numbers have no vectors: they are made by a kernel of their own.
TEST(Epilogue, LeavesComplexNumbersAlone) {
  EXPECT_EQ(differs(R"((%x: tensor<20x20xf32>) -> tensor<20x20xcomplex<f32>> {
%d = stablehlo.dot %x, %x : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
%r = stablehlo.complex %d, %d : tensor<20x20xcomplex<f32>>
return %r : tensor<20x20xcomplex<f32>> })"),
            "");
}

} // namespace
} // namespace sinter::test
