//===- QuantizedTest.cpp - products of quantised tensors ------------------===//
//
// With zero points on both sides, per tensor and per axis, in any layout: as
// they are given, and as the commands hand them over, after all passes.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

namespace {

const std::string left = "!quant.uniform<i8:f32, 0.25:3>",
                  right = "!quant.uniform<i8:f32, 0.5:-5>",
                  wide = "!quant.uniform<i32:f32, 0.125:1>";

std::string perAxis(const std::string &storage, int axis, bool hasZeroPoints) {
  return "!quant.uniform<" + storage + ":f32:" + std::to_string(axis) +
         (hasZeroPoints ? ", {0.5:1, 0.25:-2, 0.125:7}>"
                        : ", {0.5, 0.25, 0.125}>");
}

std::string tensor(const std::string &shape, const std::string &element) {
  return "tensor<" + shape + element + ">";
}

/// An operation on %a and %b, or on %a alone; to the bit.
void agrees(const std::string &op, const std::string &a, const std::string &b,
            const std::string &result) {
  const std::string types = b.empty() ? a : a + ", " + b;
  const std::string body = "(%a: " + a + (b.empty() ? "" : ", %b: " + b) +
                           ") -> " + result + " {\n  %0 = stablehlo." + op +
                           " : (" + types + ") -> " + result +
                           "\n  return %0 : " + result + "\n}";
  EXPECT_EQ(differs(body, {0, 0}), "") << body;
  EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
}

TEST(QuantizedProducts, DotsOfAnyZeroPoints) {
  const std::string a = tensor("4x5x", left);
  for (const std::string &element :
       {right, std::string("!quant.uniform<i8:f32, 0.5>"),
        perAxis("i8", 1, true), perAxis("i8", 1, false)})
    for (const std::string &out : {wide, left})
      agrees("dot %a, %b", a, tensor("5x3x", element), tensor("4x3x", out));
  // The scales are those of a dimension that is summed over.
  agrees("dot %a, %b", tensor("4x3x", left),
         tensor("3x2x", perAxis("i8", 0, true)), tensor("4x2x", wide));
  agrees("dot %a, %b", tensor("5x", left), tensor("5x", right),
         tensor("", wide));
}

TEST(QuantizedProducts, Einsums) {
  const std::string a = tensor("4x5x", left), b = tensor("5x3x", right);
  for (const auto &[config, shape] :
       {std::pair("ij,jk->ik", "4x3x"), std::pair("ij,jk->ki", "3x4x"),
        std::pair("ij,jk->k", "3x"), std::pair("ij,jk->", ""),
        std::pair("ij,jk->kij", "3x4x5x")}) {
    const std::string op =
        "einsum %a, %b, config = \"" + std::string(config) + "\"";
    agrees(op, a, b, tensor(shape, wide));
    agrees(op, a, b, tensor(shape, left));
  }
  for (const auto &[config, shape] :
       {std::pair("ij->j", "3x"), std::pair("ij->i", "5x"),
        std::pair("ij->", ""), std::pair("ij->ji", "3x5x")}) {
    const std::string op =
        "unary_einsum %a, config = \"" + std::string(config) + "\"";
    for (const std::string &element : {left, wide})
      agrees(op, tensor("5x3x", element), "", tensor(shape, wide));
  }
  agrees("unary_einsum %a, config = \"ii->i\"", tensor("3x3x", left), "",
         tensor("3x", left));
}

TEST(QuantizedProducts, ConvolutionsPerAxisInAnyLayout) {
  struct Layout {
    const char *numbers, *input, *kernel, *output;
    int kernelAxis, outputAxis;
  };
  for (const Layout &layout :
       {Layout{"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "1x4x4x2x",
               "2x2x2x3x", "1x5x5x3x", 3, 3},
        Layout{"[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "1x2x4x4x",
               "3x2x2x2x", "1x3x5x5x", 0, 1},
        Layout{"[0, b, f, 1]x[i, 0, o, 1]->[f, 0, b, 1]", "4x1x2x4x",
               "2x2x3x2x", "3x5x1x5x", 2, 0}}) {
    const std::string op =
        "convolution(%a, %b) dim_numbers = " + std::string(layout.numbers) +
        ", window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
        "feature_group_count = 1 : i64}";
    const std::string a = tensor(layout.input, left);
    for (bool hasZeroPoints : {false, true}) {
      const std::string b = tensor(
          layout.kernel, perAxis("i8", layout.kernelAxis, hasZeroPoints));
      agrees(op, a, b,
             tensor(layout.output, perAxis("i32", layout.outputAxis, false)));
      agrees(op, a, b, tensor(layout.output, left));
    }
  }
}

TEST(QuantizedProducts, WhatMovesTakesTheAxisAlong) {
  const std::string from = tensor("2x3x4x", perAxis("i8", 1, true)),
                    to = tensor("4x2x3x", perAxis("i8", 2, true));
  agrees("transpose %a, dims = [2, 0, 1]", from, "", to);
}

/// To the bit; the operation's name and attributes stand around %a.
TEST(QuantizedFunctions, ChangeTheScale) {
  const std::string from = tensor("5x7x", left);
  for (const char *op : {"relu %a", "leaky_relu %a {alpha = 0.1}",
                         "hard_swish %a", "thresholded_relu %a {alpha = 0.4}",
                         "shrink %a {bias = 0.3, lambda = 0.2}"})
    for (const char *out :
         {"!quant.uniform<i8:f32, 0.5:-5>", "!quant.uniform<i8:f32, 0.25>"}) {
      const std::string to = tensor("5x7x", out);
      const std::string body = "(%a: " + from + ") -> " + to +
                               " {\n  %0 = nn." + op + " : (" + from + ") -> " +
                               to + "\n  return %0 : " + to + "\n}";
      EXPECT_EQ(differs(body, {0, 0}), "") << body;
      EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
    }
}

TEST(QuantizedFunctions, PoolsChangeTheScale) {
  const std::string from = tensor("1x3x6x6x", left),
                    to = tensor("1x3x3x3x", right);
  for (const char *op : {"max_pool", "average_pool"}) {
    const std::string body =
        "(%a: " + from + ") -> " + to + " {\n  %0 = nn." + op +
        " %a, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, "
        "padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>" +
        (op[0] == 'a' ? ", count_padding = false" : "") + "} : (" + from +
        ") -> " + to + "\n  return %0 : " + to + "\n}";
    EXPECT_EQ(differs(body, {0, 0}), "") << body;
    EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
  }
}

TEST(QuantizedFunctions, QuantizeRoundsBeforeTheZeroPoint) {
  for (const auto &[from, to] :
       {std::pair("f32", "!quant.uniform<i8:f32, 0.125:3>"),
        std::pair("f32", "!quant.uniform<u8:f32, 0.01:129>"),
        std::pair("f32", "!quant.uniform<i4:f32, 0.5:1>"),
        std::pair("f32", "!quant.uniform<u16:f32, 0.001:777>"),
        std::pair("f16", "!quant.uniform<i8:f16, 0.125:3>"),
        std::pair("bf16", "!quant.uniform<u8:bf16, 0.125:3>"),
        std::pair("f32", "!quant.uniform<i8:f32:1, {0.5:1, 0.25:-2, 0.1}>"),
        std::pair("!quant.uniform<i8:f32, 0.25:3>",
                  "!quant.uniform<u8:f32, 0.5:5>")}) {
    const std::string a = tensor("50x3x", from), b = tensor("50x3x", to);
    const std::string body = "(%a: " + a + ") -> " + b +
                             " {\n  %0 = nn.quantize %a : (" + a + ") -> " + b +
                             "\n  return %0 : " + b + "\n}";
    EXPECT_EQ(differs(body, {0, 0}), "") << body;
    EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
  }
}

} // namespace
