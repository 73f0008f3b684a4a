//===- SmallTypesTest.cpp - 8-bit floats, small integers, quantised -------===//
//
// Covers: backend/cpu/kernels/common SmallFloat
// Covers: interpreter OrderKeys TotalOrder

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ProgramText.h"

#include <gtest/gtest.h>

using namespace sinter::test;

namespace {

const char *smallFloats[] = {"f8E4M3",        "f8E4M3FN", "f8E4M3FNUZ",
                             "f8E4M3B11FNUZ", "f8E5M2",   "f8E5M2FNUZ"};
const char *smallIntegers[] = {"i2", "i4", "ui2", "ui4"};

std::string tensorType(const std::string &element, const std::string &shape) {
  return "tensor<" + shape + "x" + element + ">";
}

/// stablehlo.<op> on operands of one type; to the bit.
std::string differsExactly(const std::string &op, const std::string &type,
                           int operands) {
  return differs(functionOf(op, type, operands), {0, 0});
}

/// Converts bytes, nearly all there are, as \p from to \p to.
std::string convertsAll(const std::string &from, const std::string &to) {
  std::string bytes = "tensor<2048xui8>", source = tensorType(from, "2048"),
              target = tensorType(to, "2048");
  return differs("(%a: " + bytes + ") -> " + target +
                     " {\n  %0 = stablehlo.bitcast_convert %a : (" + bytes +
                     ") -> " + source + "\n  %1 = stablehlo.convert %0 : (" +
                     source + ") -> " + target + "\n  return %1 : " + target +
                     "\n}",
                 {0, 0});
}

} // namespace

TEST(SmallFloats, ElementwiseToTheBit) {
  for (const char *type : smallFloats) {
    for (const char *op : {"add", "subtract", "multiply", "divide", "maximum",
                           "minimum", "remainder"})
      EXPECT_EQ(differsExactly(op, tensorType(type, "7x11"), 2), "")
          << op << type;
    for (const char *op : {"abs", "negate", "ceil", "floor", "sqrt", "sign",
                           "round_nearest_even", "round_nearest_afz", "rsqrt",
                           "exponential", "tanh", "logistic"})
      EXPECT_EQ(differsExactly(op, tensorType(type, "7x11"), 1), "")
          << op << type;
  }
}

/// Every pair of codes: the counting along both dimensions is scrambled by an
/// argument, so that nothing is known before it runs.
TEST(SmallFloats, ComparisonsOfAllPairs) {
  const std::string bytes = "tensor<256x256xui8>", bits = "tensor<256x256xi1>";
  for (const char *element : smallFloats) {
    const std::string type = tensorType(element, "256x256");
    for (const char *order : {"FLOAT", "TOTALORDER"}) {
      std::string body = "(%s: tensor<ui8>) -> (", names, lines;
      for (const char *direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
        const std::string name = std::string("%") + direction;
        body += (names.empty() ? "" : ", ") + bits;
        lines += "  " + name + " = stablehlo.compare " + direction +
                 ", %x, %y, " + order + " : (" + type + ", " + type + ") -> " +
                 bits + "\n";
        names += (names.empty() ? "" : ", ") + name;
      }
      body += ") {\n  %z = stablehlo.broadcast_in_dim %s, dims = [] : "
              "(tensor<ui8>) -> " +
              bytes + "\n";
      for (const char *side : {"x", "y"})
        body += std::string("  %i") + side +
                " = stablehlo.iota dim = " + (*side == 'x' ? "0" : "1") +
                " : " + bytes + "\n  %c" + side + " = stablehlo.xor %i" + side +
                ", %z : " + bytes + "\n  %" + side +
                " = stablehlo.bitcast_convert %c" + side + " : (" + bytes +
                ") -> " + type + "\n";
      body += lines + "  return " + names + " : ";
      for (int i = 0; i < 6; ++i)
        body += (i ? ", " : "") + bits;
      EXPECT_EQ(differs(body + "\n}", {0, 0}), "") << element << " " << order;
    }
  }
}

TEST(SmallFloats, ConversionsToTheBit) {
  for (const char *type : smallFloats) {
    for (const char *to : {"f32", "f64", "f16", "bf16", "i8", "i32", "i1"}) {
      EXPECT_EQ(convertsAll(type, to), "") << type << to;
      std::string source = tensorType(to, "300"),
                  target = tensorType(type, "300");
      EXPECT_EQ(differs("(%a: " + source + ") -> " + target +
                            " {\n  %0 = stablehlo.convert %a : (" + source +
                            ") -> " + target + "\n  return %0 : " + target +
                            "\n}",
                        {0, 0}),
                "")
          << to << type;
    }
    for (const char *to : smallFloats)
      EXPECT_EQ(convertsAll(type, to), "") << type << to;
  }
}

TEST(SmallFloats, CompareReduceAndMultiply) {
  for (std::string t : smallFloats) {
    EXPECT_EQ(differs("(%a: tensor<40x" + t + ">, %b: tensor<40x" + t +
                          ">) -> tensor<40xi1> {\n"
                          "  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : "
                          "(tensor<40x" +
                          t + ">, tensor<40x" + t +
                          ">) -> tensor<40xi1>\n"
                          "  return %0 : tensor<40xi1>\n}",
                      {0, 0}),
              "");
    EXPECT_EQ(differs("(%a: tensor<4x6x" + t + ">, %b: tensor<6x5x" + t +
                          ">) -> tensor<4x5x" + t +
                          "> {\n"
                          "  %0 = stablehlo.dot_general %a, %b, "
                          "contracting_dims = [1] x [0] : (tensor<4x6x" +
                          t + ">, tensor<6x5x" + t + ">) -> tensor<4x5x" + t +
                          ">\n"
                          "  return %0 : tensor<4x5x" +
                          t + ">\n}",
                      {0.3, 0.3}),
              "")
        << t;
    EXPECT_EQ(
        differs("(%a: tensor<4x6x" + t + ">) -> tensor<4x" + t +
                    "> {\n"
                    "  %c = stablehlo.constant dense<0.0> : tensor<" +
                    t +
                    ">\n"
                    "  %0 = stablehlo.reduce(%a init: %c) applies "
                    "stablehlo.maximum across dimensions = [1] : (tensor<4x6x" +
                    t + ">, tensor<" + t + ">) -> tensor<4x" + t +
                    ">\n"
                    "  return %0 : tensor<4x" +
                    t + ">\n}",
                {0, 0}),
        "")
        << t;
  }
}

TEST(SmallIntegers, ElementwiseToTheBit) {
  for (const char *type : smallIntegers)
    for (const char *op : {"add", "subtract", "multiply", "divide", "remainder",
                           "and", "or", "xor", "maximum", "minimum",
                           "shift_left", "shift_right_logical", "power"})
      EXPECT_EQ(differsExactly(op, tensorType(type, "7x11"), 2), "")
          << op << type;
}

/// LLVM's vectors of such numbers do not all end.
TEST(SmallIntegers, ShiftByThemselves) {
  for (std::string element : smallIntegers) {
    const std::string type = tensorType(element, "6x3x5");
    for (std::string op :
         {"shift_left", "shift_right_logical", "shift_right_arithmetic"})
      EXPECT_EQ(differs("(%a: " + type + ") -> " + type +
                            " {\n  %0 = stablehlo." + op + " %a, %a : " + type +
                            "\n  return %0 : " + type + "\n}",
                        {0, 0}),
                "")
          << op << element;
  }
}

namespace {
const std::string quantizedPerTensor = "!quant.uniform<i8:f32, 0.05:-3>";
const std::string quantizedPerAxis =
    "!quant.uniform<i8:f32:0, {0.05:0, 0.02:0, 0.1:0, 0.07:0}>";
} // namespace

TEST(Quantized, ElementwiseToTheBit) {
  for (const std::string &element :
       {quantizedPerTensor, quantizedPerAxis,
        std::string("!quant.uniform<u8:f32, 0.1:128>"),
        std::string("!quant.uniform<i16:f32, 0.001:5>"),
        std::string("!quant.uniform<i4:f32, 0.5:1>")}) {
    std::string type = tensorType(element, "4x5");
    EXPECT_EQ(differsExactly("add", type, 2), "") << type;
    if (element == quantizedPerAxis)
      continue; // Only additions take these.
    for (const char *op : {"subtract", "multiply", "divide", "maximum"})
      EXPECT_EQ(differsExactly(op, type, 2), "") << op << type;
    for (const char *op : {"abs", "negate", "ceil", "sqrt"})
      EXPECT_EQ(differsExactly(op, type, 1), "") << op << type;
  }
}

TEST(Quantized, QuantizeAndBack) {
  for (const std::string &element : {quantizedPerTensor, quantizedPerAxis}) {
    std::string q = tensorType(element, "4x50"), f = "tensor<4x50xf32>";
    EXPECT_EQ(differs("(%a: " + f + ") -> " + f +
                          " {\n  %0 = stablehlo.uniform_quantize %a : (" + f +
                          ") -> " + q +
                          "\n  %1 = stablehlo.uniform_dequantize %0 : (" + q +
                          ") -> " + f + "\n  return %1 : " + f + "\n}",
                      {0, 0}),
              "");
    std::string other = tensorType("!quant.uniform<i8:f32, 0.03:7>", "4x50");
    EXPECT_EQ(differs("(%a: " + q + ") -> " + other +
                          " {\n  %0 = stablehlo.uniform_quantize %a : (" + q +
                          ") -> " + other + "\n  return %0 : " + other + "\n}",
                      {0, 0}),
              "");
  }
}

TEST(Quantized, MovementMovesStorage) {
  std::string q = tensorType(quantizedPerTensor, "4x6"),
              t = tensorType(quantizedPerTensor, "6x4");
  EXPECT_EQ(differs("(%a: " + q + ") -> " + t +
                        " {\n  %0 = stablehlo.transpose %a, dims = [1, 0] : (" +
                        q + ") -> " + t + "\n  return %0 : " + t + "\n}",
                    {0, 0}),
            "");
}

TEST(Quantized, ProductsInIntegers) {
  std::string lhs = tensorType("!quant.uniform<i8:f32, 0.05:-3>", "7x30");
  std::string out = tensorType("!quant.uniform<i8:f32, 0.6:4>", "7x4");
  for (const std::string &element :
       {std::string("!quant.uniform<i8:f32, 0.02:0>"),
        std::string("!quant.uniform<i8:f32:1, {0.05:0, 0.02:0, 0.1:0, "
                    "0.07:0}>")}) {
    std::string rhs = tensorType(element, "30x4");
    EXPECT_EQ(differs("(%a: " + lhs + ", %b: " + rhs + ") -> " + out +
                          " {\n  %0 = stablehlo.dot_general %a, %b, "
                          "contracting_dims = [1] x [0] : (" +
                          lhs + ", " + rhs + ") -> " + out +
                          "\n  return %0 : " + out + "\n}",
                      {0, 0}),
              "");
  }
}

TEST(Quantized, ConvolutionInIntegers) {
  std::string lhs = tensorType("!quant.uniform<i8:f32, 0.05:-3>", "2x9x9x6");
  std::string out = tensorType("!quant.uniform<i8:f32, 0.3:4>", "2x9x9x4");
  for (const std::string &element :
       {std::string("!quant.uniform<i8:f32, 0.02:0>"),
        std::string("!quant.uniform<i8:f32:3, {0.05:0, 0.02:0, 0.1:0, "
                    "0.07:0}>")}) {
    std::string rhs = tensorType(element, "3x3x6x4");
    EXPECT_EQ(
        differs("(%a: " + lhs + ", %b: " + rhs + ") -> " + out +
                    " {\n  %0 = stablehlo.convolution(%a, %b) dim_numbers = "
                    "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = "
                    "[[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                    "feature_group_count = 1 : i64} : (" +
                    lhs + ", " + rhs + ") -> " + out +
                    "\n  return %0 : " + out + "\n}",
                {0, 0}),
        "");
  }
}

TEST(Quantized, ConvolutionByConstantsIsExact) {
  // In blocks of channels, and without replacing products by fewer ones. No
  // result lies in the middle of two.
  std::string q = "!quant.uniform<i8:f32, 0.02:3>";
  std::string lhs = tensorType(q, "1x16x12x12"),
              rhs = tensorType("!quant.uniform<i8:f32, 0.01>", "16x16x3x3"),
              out = tensorType("!quant.uniform<i8:f32, 0.0613>", "1x16x12x12");
  EXPECT_EQ(
      differs("(%a: " + lhs + ") -> " + out +
                  " {\n  %i = stablehlo.iota dim = 0 : tensor<2304xi8>\n"
                  "  %r = stablehlo.reshape %i : (tensor<2304xi8>) -> "
                  "tensor<16x16x3x3xi8>\n"
                  "  %w = stablehlo.bitcast_convert %r : "
                  "(tensor<16x16x3x3xi8>) -> " +
                  rhs +
                  "\n  %0 = stablehlo.convolution(%a, %w) dim_numbers = "
                  "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = "
                  "[[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                  "feature_group_count = 1 : i64} : (" +
                  lhs + ", " + rhs + ") -> " + out + "\n  return %0 : " + out +
                  "\n}",
              {0, 0}),
      "");
}
