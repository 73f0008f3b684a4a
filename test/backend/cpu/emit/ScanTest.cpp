//===- ScanTest.cpp - running sums against the oracle ---------------------===//
//
// Covers: backend/cpu/ir Scans
// Covers: backend/cpu/emit ScanKernel

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/program/Compiler.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

struct ScanCase {
  std::string shape, window, low, high = "0, 0, 0";
  std::string region = "%r = stablehlo.add %a, %b : tensor<f32>";
  /// Nothing: an argument.
  std::string init = "0.0";
};

/// The windows of a tensor of rank 3, with a reader behind them.
std::string bodyOf(const ScanCase &test) {
  std::string type = "tensor<" + test.shape + "xf32>";
  std::string padding;
  for (size_t dim = 0; dim < 3; ++dim)
    padding += (dim ? ", [" : "[") + test.low.substr(3 * dim, 1) + ", " +
               test.high.substr(3 * dim, 1) + "]";
  std::string init = test.init.empty() ? ""
                                       : "%i = stablehlo.constant dense<" +
                                             test.init + "> : tensor<f32>\n";
  return "(%x: " + type + (test.init.empty() ? ", %i: tensor<f32>" : "") +
         ") -> " + type + " {\n" + init +
         "%0 = \"stablehlo.reduce_window\"(%x, %i) ({\n"
         "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n" +
         test.region +
         "\nstablehlo.return %r : tensor<f32>\n}) {window_dimensions = "
         "array<i64: " +
         test.window + ">, padding = dense<[" + padding +
         "]> : tensor<3x2xi64>} : (" + type + ", tensor<f32>) -> " + type +
         "\n%1 = stablehlo.negate %0 : " + type + "\nreturn %1 : " + type +
         "\n}";
}

TEST(Scan, AlongEveryDimension) {
  const std::string notCommutative =
      "%h = stablehlo.constant dense<0.5> : tensor<f32>\n"
      "%s = stablehlo.multiply %a, %h : tensor<f32>\n"
      "%r = stablehlo.subtract %b, %s : tensor<f32>";
  const ScanCase cases[] = {
      {"3x5x7", "1, 1, 7", "0, 0, 6"},
      {"3x5x7", "1, 5, 1", "0, 4, 0"},
      {"3x5x7", "3, 1, 1", "2, 0, 0"},
      {"1x1x8", "1, 1, 8", "0, 0, 7"},
      // Windows that are larger than the dimension.
      {"3x5x7", "1, 9, 1", "0, 8, 0"},
      {"3x5x7", "1, 1, 7", "0, 0, 6", "0, 0, 0", notCommutative},
      {"3x5x7", "1, 5, 1", "0, 4, 0", "0, 0, 0", notCommutative},
      {"3x5x7", "1, 1, 7", "0, 0, 6", "0, 0, 0",
       "%r = stablehlo.maximum %a, %b : tensor<f32>", ""},
      // What lies outside counts.
      {"3x5x7", "1, 1, 7", "0, 0, 6", "0, 0, 0",
       "%r = stablehlo.add %a, %b : tensor<f32>", ""},
      {"3x5x7", "1, 3, 3", "0, 1, 2", "0, 1, 0",
       "%r = stablehlo.multiply %a, %b : tensor<f32>", "0.5"},
      // From the end, and without the place itself.
      {"3x5x7", "1, 1, 7", "0, 0, 0", "0, 0, 6"},
      // What is no running sum: along two dimensions.
      {"3x5x7", "1, 5, 7", "0, 4, 6"},
  };
  for (const ScanCase &test : cases)
    EXPECT_EQ(differs(bodyOf(test)), "") << bodyOf(test);
}

/// A scan of any type and form along dimension \p dim of \p shape.
std::string scanOf(const Shape &shape, size_t dim, const std::string &element,
                   const std::string &operation, bool isReverse,
                   bool isExclusive) {
  std::string sizes, window, padding;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t size = i == dim ? shape[i] : 1;
    const int64_t shift = i == dim && isExclusive ? 1 : 0;
    const int64_t far = size - 1 + shift, near = -shift;
    sizes += std::to_string(shape[i]) + "x";
    window += (i ? ", " : "") + std::to_string(size);
    padding += (i ? ", [" : "[") + std::to_string(isReverse ? near : far) +
               ", " + std::to_string(isReverse ? far : near) + "]";
  }
  const bool isFloat = element[0] == 'f' || element[0] == 'b',
             isComplex = element[0] == 'c', isBit = element == "i1";
  std::string one = isComplex ? "(1.0, 0.0)" : isFloat ? "1.0" : "1";
  std::string zero = isComplex ? "(0.0, 0.0)" : isFloat ? "0.0" : "0";
  std::string init = operation == "multiply" ? one
                     : operation == "and"    ? "true"
                     : isBit                 ? "false"
                                             : zero;
  std::string type = "tensor<" + sizes + element + ">";
  std::string scalar = "tensor<" + element + ">";
  return "(%x: " + type + ") -> " + type +
         " {\n%i = stablehlo.constant dense<" + init + "> : " + scalar +
         "\n%r = \"stablehlo.reduce_window\"(%x, %i) ({\n^bb0(%a: " + scalar +
         ", %b: " + scalar + "):\n%s = stablehlo." + operation +
         " %a, %b : " + scalar + "\nstablehlo.return %s : " + scalar +
         "\n}) {window_dimensions = array<i64: " + window +
         ">, padding = dense<[" + padding + "]> : tensor<" +
         std::to_string(shape.size()) + "x2xi64>} : (" + type + ", " + scalar +
         ") -> " + type + "\nreturn %r : " + type + "\n}";
}

TEST(Scan, OfEveryForm) {
  const std::vector<Shape> all = {{1}, {17}, {2, 9, 300}, {6, 1, 2}};
  const std::vector<Shape> one = {{3, 5, 7}};
  struct Kind {
    std::string element;
    std::vector<std::string> operations;
    Tolerance tolerance;
    bool isCommon = false;
  };
  const Kind kinds[] = {
      {"f32", {"add", "multiply", "maximum", "minimum"}, {2e-5, 2e-5}, true},
      {"f64", {"add", "maximum"}, {1e-12, 1e-12}},
      // Rounded step by step by both.
      {"f16", {"add", "multiply", "minimum"}, {0, 0}, true},
      {"bf16", {"add", "maximum", "multiply"}, {0, 0}},
      {"f8E4M3FN", {"add", "maximum"}, {0, 0}},
      {"i32", {"add", "multiply", "maximum", "xor"}, {}},
      {"ui8", {"add", "minimum", "or"}, {}},
      {"i64", {"add"}, {}},
      {"i1", {"and", "or"}, {}},
      {"complex<f32>", {"add"}, {2e-5, 2e-5}},
  };
  Sweep sweep;
  for (const Kind &kind : kinds)
    for (const std::string &operation : kind.operations)
      for (const Shape &shape : operation == "add" && kind.isCommon ? all : one)
        for (size_t dim = 0; dim < shape.size(); ++dim)
          for (bool isReverse : {false, true})
            for (bool isExclusive : {false, true}) {
              if (!sweep.takesNext())
                continue;
              std::string body = scanOf(shape, dim, kind.element, operation,
                                        isReverse, isExclusive);
              EXPECT_EQ(differs(body, kind.tolerance), "") << body;
            }
}

/// Where the initial value counts in every window that reaches beyond, nothing
/// is computed in one pass, but rounded alike.
TEST(Scan, RoundsAlikeWithAnInitialValueThatCounts) {
  for (const char *element : {"f16", "bf16"})
    for (const char *operation : {"add", "multiply"})
      for (bool isReverse : {false, true}) {
        std::string body = scanOf({3, 11}, 1, element, operation, isReverse,
                                  /*isExclusive=*/false);
        const std::string one = std::string("dense<0.0>");
        const size_t at = body.find(one);
        if (at != std::string::npos)
          body.replace(at, one.size(), "dense<1.5>");
        else
          body.replace(body.find("dense<1.0>"), one.size(), "dense<0.9>");
        EXPECT_EQ(differs(body, {0, 0}), "") << body;
      }
}

/// An average over all that came is one of a running sum, not a pool in f32.
TEST(Scan, OfNarrowFloatsBecomesNoPool) {
  for (const char *element : {"f16", "f32"}) {
    const std::string type = std::string("tensor<1x1x9x") + element + ">",
                      scalar = std::string("tensor<") + element + ">";
    EXPECT_EQ(
        differsRaised("(%x: " + type + ") -> " + type +
                          " {\n%z = stablehlo.constant dense<0.0> : " + scalar +
                          "\n%n = stablehlo.constant dense<9.0> : " + type +
                          "\n%s = \"stablehlo.reduce_window\"(%x, %z) "
                          "({\n^bb0(%a: " +
                          scalar + ", %b: " + scalar +
                          "):\n%c = stablehlo.add %a, %b : " + scalar +
                          "\nstablehlo.return %c : " + scalar +
                          "\n}) {window_dimensions = array<i64: 1, 1, 9>, "
                          "padding = dense<[[0, 0], [0, 0], [8, 0]]> : "
                          "tensor<3x2xi64>} : (" +
                          type + ", " + scalar + ") -> " + type +
                          "\n%r = stablehlo.divide %s, %n : " + type +
                          "\nreturn %r : " + type + "\n}",
                      std::string(element) == "f16" ? Tolerance{0, 0}
                                                    : Tolerance{}),
        "")
        << element;
  }
}

/// All four forms of a running sum are a step an element.
TEST(Scan, IsOneKernelOfOneStepAnElement) {
  for (bool isReverse : {false, true})
    for (bool isExclusive : {false, true}) {
      Result<Program> program =
          cpu::compileForCpu(parseModel(scanOf({1 << 20}, 0, "f32", "add",
                                               isReverse, isExclusive)),
                             {});
      ASSERT_TRUE(program) << program.error().message();
      ASSERT_EQ(program->steps.size(), 1u);
      EXPECT_LE(program->steps[0].flops, double(1 << 21));
    }
}

/// Greatest element so far, and where it stands.
TEST(Scan, CarriesSeveralValues) {
  EXPECT_EQ(
      differs(R"((%x: tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<4x9xi32>) {
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m = stablehlo.constant dense<-1> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<4x9xi32>
    %0:2 = "stablehlo.reduce_window"(%x, %i, %n, %m) ({
    ^bb0(%a: tensor<f32>, %p: tensor<i32>, %b: tensor<f32>, %q: tensor<i32>):
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %c, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }) {window_dimensions = array<i64: 1, 9>, padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>}
      : (tensor<4x9xf32>, tensor<4x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x9xf32>, tensor<4x9xi32>)
    return %0#0, %0#1 : tensor<4x9xf32>, tensor<4x9xi32>
  })"),
      "");
}

} // namespace
