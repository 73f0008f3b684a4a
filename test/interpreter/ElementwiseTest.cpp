//===- ElementwiseTest.cpp ------------------------------------------------===//
//
// Covers: interpreter ComplexMath Numbers ScalarFunction

#include "interpreter/Evaluate.h"

#include <cmath>

using namespace sinter;
using Doubles = std::vector<double>;

/// A binary operation on two constant lists of the same element type.
static Evaluated binary(const std::string &op, const std::string &lhs,
                        const std::string &rhs, const std::string &type) {
  return evaluateBody("%a = stablehlo.constant dense<" + lhs + "> : " + type +
                          "\n%b = stablehlo.constant dense<" + rhs + "> : " +
                          type + "\n%r = stablehlo." + op + " %a, %b : " + type,
                      type);
}
static Evaluated unary(const std::string &op, const std::string &operand,
                       const std::string &type) {
  return evaluateBody("%a = stablehlo.constant dense<" + operand + "> : " +
                          type + "\n%r = stablehlo." + op + " %a : " + type,
                      type);
}

TEST(Elementwise, IntegersWrapAround) {
  EXPECT_EQ(binary("add", "[127, -128]", "[1, -1]", "tensor<2xi8>").doubles(),
            (Doubles{-128, 127}));
  EXPECT_EQ(binary("add", "[7, -8]", "[1, -1]", "tensor<2xi4>").doubles(),
            (Doubles{-8, 7}));
  EXPECT_EQ(
      binary("multiply", "[65535]", "[65535]", "tensor<1xui16>").doubles(),
      (Doubles{1}));
  EXPECT_EQ(unary("negate", "[-128, 5]", "tensor<2xi8>").doubles(),
            (Doubles{-128, -5}));
  EXPECT_EQ(unary("abs", "[-128, -5]", "tensor<2xi8>").doubles(),
            (Doubles{-128, 5}));
}

TEST(Elementwise, IntegerDivisionNeverTraps) {
  EXPECT_EQ(binary("divide", "[7, -7, 7, -2147483648]", "[2, 2, 0, -1]",
                   "tensor<4xi32>")
                .doubles(),
            (Doubles{3, -3, -1, -2147483648.0}));
  EXPECT_EQ(binary("divide", "[7]", "[0]", "tensor<1xui8>").doubles(),
            (Doubles{255}));
  EXPECT_EQ(binary("remainder", "[7, -7, 7, -2147483648]", "[4, 4, 0, -1]",
                   "tensor<4xi32>")
                .doubles(),
            (Doubles{3, -3, 7, 0}));
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
  EXPECT_EQ(
      binary("shift_left", "[1, 1, 1]", "[3, 8, -1]", "tensor<3xi8>").doubles(),
      (Doubles{8, 0, 0}));
  EXPECT_EQ(binary("shift_right_arithmetic", "[-128, -128, 64]", "[3, 9, 9]",
                   "tensor<3xi8>")
                .doubles(),
            (Doubles{-16, -1, 0}));
  EXPECT_EQ(binary("shift_right_logical", "[-1, -1]", "[1, 4]", "tensor<2xi4>")
                .doubles(),
            (Doubles{7, 0}));
}

TEST(Elementwise, BitsAreThoseOfTheType) {
  EXPECT_EQ(unary("popcnt", "[-1, 5]", "tensor<2xi4>").doubles(),
            (Doubles{4, 2}));
  EXPECT_EQ(
      unary("count_leading_zeros", "[0, 1, -1]", "tensor<3xi16>").doubles(),
      (Doubles{16, 15, 0}));
  EXPECT_EQ(unary("not", "[true, false]", "tensor<2xi1>").doubles(),
            (Doubles{0, 1}));
}

TEST(Elementwise, MaximumKeepsNan) {
  auto values = binary("maximum", "[0x7FC00000, 1.0, -0.0]",
                       "[1.0, 0x7FC00000, 0.0]", "tensor<3xf32>")
                    .doubles();
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_FALSE(std::signbit(values[2]));
}

TEST(Elementwise, SmallFloatsRoundAfterEachOperation) {
  // 2048 + 1 lies halfway between two f16 numbers: to even.
  EXPECT_EQ(binary("add", "[2048.0, 2050.0]", "[1.0, 1.0]", "tensor<2xf16>")
                .doubles(),
            (Doubles{2048, 2052}));
  EXPECT_EQ(
      binary("multiply", "[256.0]", "[256.0]", "tensor<1xf16>").doubles()[0],
      HUGE_VAL);
  EXPECT_EQ(binary("add", "[256.0]", "[1.0]", "tensor<1xbf16>").doubles(),
            (Doubles{256}));
}

TEST(Elementwise, Rounding) {
  EXPECT_EQ(unary("round_nearest_even", "[0.5, 1.5, -2.5]", "tensor<3xf32>")
                .doubles(),
            (Doubles{0, 2, -2}));
  EXPECT_EQ(
      unary("round_nearest_afz", "[0.5, 1.5, -2.5]", "tensor<3xf32>").doubles(),
      (Doubles{1, 2, -3}));
}

TEST(Elementwise, PowersOfIntegers) {
  EXPECT_EQ(
      binary("power", "[2, -1, 3, 1]", "[10, -3, -1, -5]", "tensor<4xi32>")
          .doubles(),
      (Doubles{1024, -1, 0, 1}));
}

TEST(Elementwise, ClampTakesScalars) {
  EXPECT_EQ(evaluateBody(R"(
    %lo = stablehlo.constant dense<0.0> : tensor<f32>
    %hi = stablehlo.constant dense<6.0> : tensor<f32>
    %x = stablehlo.constant dense<[-1.0, 3.0, 9.0]> : tensor<3xf32>
    %r = stablehlo.clamp %lo, %x, %hi
      : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>)",
                         "tensor<3xf32>")
                .doubles(),
            (Doubles{0, 3, 6}));
}

TEST(Conversions, FloatsToIntegersSaturate) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[-1.9, 300.0, -1000.0, 0x7FC00000]> : tensor<4xf32>
    %r = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>)",
                         "tensor<4xi8>")
                .doubles(),
            (Doubles{-1, 127, -128, 0}));
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[300, -1]> : tensor<2xi32>
    %r = stablehlo.convert %x : (tensor<2xi32>) -> tensor<2xui8>)",
                         "tensor<2xui8>")
                .doubles(),
            (Doubles{44, 255}));
}

TEST(Conversions, CompareWithNan) {
  for (auto [direction, expected] :
       {std::pair<const char *, Doubles>{"EQ", {0, 1}},
        {"NE", {1, 0}},
        {"LE", {0, 1}},
        {"GT", {0, 0}}})
    EXPECT_EQ(
        evaluateBody(
            std::string(R"(
      %x = stablehlo.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
      %r = stablehlo.compare )") +
                direction +
                R"(, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>)",
            "tensor<2xi1>")
            .doubles(),
        expected)
        << direction;
}

TEST(Conversions, CompareComplexNumbersAsPairs) {
  for (auto [direction, expected] :
       {std::pair<const char *, Doubles>{"LT", {1, 1, 0}},
        {"LE", {1, 1, 1}},
        {"GT", {0, 0, 0}},
        {"GE", {0, 0, 1}}})
    EXPECT_EQ(evaluateBody(std::string(R"(
      %x = stablehlo.constant dense<[(1.0, 5.0), (2.0, 1.0), (2.0, 2.0)]> : tensor<3xcomplex<f32>>
      %y = stablehlo.constant dense<[(2.0, 0.0), (2.0, 2.0), (2.0, 2.0)]> : tensor<3xcomplex<f32>>
      %r = stablehlo.compare )") +
                               direction + R"(, %x, %y
        : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>)",
                           "tensor<3xi1>")
                  .doubles(),
              expected)
        << direction;
}

TEST(Compare, SignlessIntegersAsUnsigned) {
  for (const char *element : {"i4", "i8", "i32", "i64"})
    for (const auto &[direction, expected] :
         std::vector<std::pair<std::string, Doubles>>{{"EQ", {0, 1, 0}},
                                                      {"NE", {1, 0, 1}},
                                                      {"LT", {1, 0, 0}},
                                                      {"LE", {1, 1, 0}},
                                                      {"GT", {0, 0, 1}},
                                                      {"GE", {0, 1, 1}}}) {
      const std::string type = std::string("tensor<3x") + element + ">";
      EXPECT_EQ(
          evaluateBody("%x = stablehlo.constant dense<[5, -1, -2]> : " + type +
                           "\n%y = stablehlo.constant dense<[-1, -1, "
                           "4]> : " +
                           type + "\n%r = stablehlo.compare " + direction +
                           ", %x, %y, UNSIGNED : (" + type + ", " + type +
                           ") -> tensor<3xi1>",
                       "tensor<3xi1>")
              .doubles(),
          expected)
          << direction << " of " << element;
    }
}

TEST(Conversions, ReducePrecisionRoundsToEven) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[1.00390625, 1.01171875, 1.0e20]> : tensor<3xf32>
    %r = stablehlo.reduce_precision %x, format = e5m7 : tensor<3xf32>)",
                         "tensor<3xf32>")
                .doubles(),
            (Doubles{1, 1.015625, HUGE_VAL}));
}

TEST(Conversions, BitcastBetweenWidths) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[0x1234, 0x00FF]> : tensor<2xui16>
    %r = stablehlo.bitcast_convert %x : (tensor<2xui16>) -> tensor<2x2xui8>)",
                         "tensor<2x2xui8>")
                .doubles(),
            (Doubles{0x34, 0x12, 0xFF, 0}));
}
