//===- WindowRowsTest.cpp - windows over rows of neighbours ---------------===//
//
// Covers: backend/cpu/emit Reduction WindowRows

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

namespace {

/// The last two of four dimensions, 2x3xHxW, and the window over them.
struct Windows {
  int height, width;
  int result[2];
  std::string size, stride, padding, dilation = "1, 1";
};

const Windows windowCases[] = {
    {20, 20, {20, 20}, "5, 5", "1, 1", "[2, 2], [2, 2]"},
    {19, 37, {10, 19}, "3, 3", "2, 2", "[1, 1], [1, 1]"},
    {9, 40, {4, 13}, "2, 3", "2, 3", "[0, 0], [0, 1]"},
    {12, 30, {12, 30}, "3, 3", "1, 1", "[2, 2], [2, 2]", "2, 2"},
    {7, 33, {5, 9}, "3, 1", "1, 4", "[0, 0], [0, 2]"},
    {4, 24, {4, 22}, "1, 9", "1, 1", "[0, 0], [3, 3]"},
    {4, 70, {4, 32}, "1, 20", "1, 2", "[0, 0], [7, 5]"},
    {5, 40, {3, 34}, "3, 3", "1, 1", "[0, 0], [-1, -3]"},
    {3, 12, {5, 18}, "3, 2", "1, 1", "[2, 2], [6, 1]"},
    // More than a piece of a row.
    {3, 600, {2, 598}, "2, 3", "1, 1", "[0, 0], [0, 0]"},
    {2, 5200, {1, 260}, "2, 11", "1, 20", "[0, 0], [0, 0]"},
};

std::string windows(const Windows &each, const std::string &type,
                    const std::string &op, const std::string &initial,
                    bool isFused) {
  auto tensor = [&](int height, int width) {
    return "tensor<2x3x" + std::to_string(height) + "x" +
           std::to_string(width) + "x" + type + ">";
  };
  const std::string in = tensor(each.height, each.width),
                    out = tensor(each.result[0], each.result[1]),
                    scalar = "tensor<" + type + ">";
  return "(%a: " + in + ", %b: " + out + ") -> " + out + R"( {
    %z = stablehlo.constant dense<)" +
         initial + "> : " + scalar + "\n    %x = stablehlo." +
         (isFused ? "negate" : "optimization_barrier") + " %a : " + in + R"(
    %w = "stablehlo.reduce_window"(%x, %z) <{
        window_dimensions = array<i64: 1, 1, )" +
         each.size + ">, window_strides = array<i64: 1, 1, " + each.stride +
         ">, window_dilations = array<i64: 1, 1, " + each.dilation +
         ">, padding = dense<[[0, 0], [0, 0], " + each.padding +
         R"(]> : tensor<4x2xi64>}> ({
    ^bb0(%l: )" +
         scalar + ", %r: " + scalar + R"():
      %c = stablehlo.)" +
         op + " %l, %r : " + scalar + R"(
      stablehlo.return %c : )" +
         scalar + "\n    }) : (" + in + ", " + scalar + ") -> " + out +
         (isFused ? "\n    %y = stablehlo.add %w, %b : " + out
                  : "\n    %y = stablehlo.optimization_barrier %w : " + out) +
         "\n    return %y : " + out + "\n  }";
}

} // namespace

TEST(WindowRows, OfEverySizeStrideAndPadding) {
  for (const Windows &each : windowCases)
    for (bool isFused : {false, true}) {
      auto check = [&](const char *type, const char *op, const char *initial,
                       Tolerance tolerance = {}) {
        EXPECT_EQ(differs(windows(each, type, op, initial, isFused), tolerance),
                  "")
            << type << " " << op << " of " << each.size << " by " << each.stride
            << " over " << each.width;
      };
      check("f32", "maximum", "0xFF800000");
      check("f32", "maximum", "0.25");
      check("f32", "add", "0.0");
      check("f32", "add", "0.5");
      check("f64", "minimum", "0x7FF0000000000000");
      check("f64", "multiply", "1.0");
      check("bf16", "maximum", "0xFF80", {1e-2, 1e-2});
      check("f16", "add", "0.0", {1e-2, 1e-2});
      check("i32", "maximum", "-100");
      check("i8", "add", "1");
    }
}

TEST(WindowRows, OfNarrowerVectors) {
  for (const sinter::cpu::Target &target : lesserTargets())
    for (const Windows &each : {windowCases[0], windowCases[1], windowCases[3]})
      for (const char *op : {"maximum", "add"})
        EXPECT_EQ(
            differs(windows(each, "f32", op, "0.0", true), {}, nullptr, target),
            "")
            << op << " of " << each.size;
}

TEST(WindowRows, OfZerosAndNan) {
  EXPECT_EQ(
      differs(
          R"((%a: tensor<4x40xf32>) -> (tensor<4x38xf32>, tensor<4x38xf32>) {
    %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %h = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<4x40xf32>
    %root = stablehlo.sqrt %a : tensor<4x40xf32>
    %small = stablehlo.multiply %a, %zero : tensor<4x40xf32>
    %negative = stablehlo.compare LT, %a, %zero : (tensor<4x40xf32>, tensor<4x40xf32>) -> tensor<4x40xi1>
    %x = stablehlo.select %negative, %small, %root : tensor<4x40xi1>, tensor<4x40xf32>
    %w = "stablehlo.reduce_window"(%x, %l) <{window_dimensions = array<i64: 1, 3>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %c = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<4x40xf32>, tensor<f32>) -> tensor<4x38xf32>
    %v = "stablehlo.reduce_window"(%root, %h) <{window_dimensions = array<i64: 1, 3>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %c = stablehlo.minimum %p, %q : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<4x40xf32>, tensor<f32>) -> tensor<4x38xf32>
    return %w, %v : tensor<4x38xf32>, tensor<4x38xf32>
  })"),
      "");
}

TEST(WindowRows, OfPairs) {
  EXPECT_EQ(
      differs(
          R"((%a: tensor<3x9x30xf32>) -> (tensor<3x8x28xf32>, tensor<3x8x28xi32>) {
    %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %i = stablehlo.iota dim = 2 : tensor<3x9x30xi32>
    %w:2 = "stablehlo.reduce_window"(%a, %i, %l, %none) <{window_dimensions = array<i64: 1, 2, 3>}> ({
    ^bb0(%p: tensor<f32>, %m: tensor<i32>, %q: tensor<f32>, %n: tensor<i32>):
      %c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>
      %k = stablehlo.select %c, %m, %n : tensor<i1>, tensor<i32>
      stablehlo.return %v, %k : tensor<f32>, tensor<i32>
    }) : (tensor<3x9x30xf32>, tensor<3x9x30xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x8x28xf32>, tensor<3x8x28xi32>)
    return %w#0, %w#1 : tensor<3x8x28xf32>, tensor<3x8x28xi32>
  })"),
      "");
}
