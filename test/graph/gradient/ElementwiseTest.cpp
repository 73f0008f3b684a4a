// Gradients of what is computed element by element.

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

TEST(Gradient, OfOneNumber) {
  for (const char *op :
       {"abs", "cosine", "exponential", "exponential_minus_one", "logistic",
        "negate", "sine", "tan", "tanh", "ceil", "floor", "round_nearest_afz",
        "round_nearest_even", "sign"})
    checkUnary(std::string("stablehlo.") + op);
  for (const char *op : {"cbrt", "log", "log_plus_one", "rsqrt", "sqrt"})
    checkUnary(std::string("stablehlo.") + op, {0.4, 1.6});
}

TEST(Gradient, OfTwoNumbers) {
  for (const char *op : {"add", "subtract", "multiply", "maximum", "minimum"})
    checkBinary(std::string("stablehlo.") + op);
  for (const char *op : {"divide", "power", "atan2", "remainder"})
    checkBinary(std::string("stablehlo.") + op, {0.4, 1.6});
}

TEST(Gradient, OfChoices) {
  check(R"((%x: tensor<6xf64>, %z: tensor<6xf64>) -> tensor<6xf64> {
    %p = stablehlo.constant dense<[true, false, true, true, false, false]> : tensor<6xi1>
    %y = stablehlo.select %p, %x, %z : tensor<6xi1>, tensor<6xf64>
    return %y : tensor<6xf64> })");
  check(
      R"((%l: tensor<f64>, %x: tensor<9xf64>, %h: tensor<f64>) -> tensor<9xf64> {
    %a = stablehlo.constant dense<-0.6> : tensor<f64>
    %low = stablehlo.minimum %l, %a : tensor<f64>
    %b = stablehlo.constant dense<0.6> : tensor<f64>
    %high = stablehlo.maximum %h, %b : tensor<f64>
    %w = stablehlo.constant dense<2.0> : tensor<9xf64>
    %v = stablehlo.multiply %x, %w : tensor<9xf64>
    %y = stablehlo.clamp %low, %v, %high : (tensor<f64>, tensor<9xf64>, tensor<f64>) -> tensor<9xf64>
    return %y : tensor<9xf64> })");
}

/// x^0 is flat, at zero too; the slope of x^1 is 1 there.
TEST(Gradient, OfPowersOfZero) {
  check(R"((%x: tensor<4xf64>) -> tensor<4xf64> {
    %z = stablehlo.constant dense<0.0> : tensor<4xf64>
    %p = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
    %o = stablehlo.multiply %x, %z : tensor<4xf64>
    %a = stablehlo.add %o, %x : tensor<4xf64>
    %y = stablehlo.power %a, %p : tensor<4xf64>
    return %y : tensor<4xf64> })",
        {0, 0});
}

/// Functions of one number that are no sum of a few others, also where they
/// are flat, and the gradients of their gradients.
TEST(Gradient, OfErrorFunctions) {
  for (const char *op :
       {"nn.erf %x", "nn.erfc %x", "nn.gelu %x {approximate = false}",
        "nn.gelu %x {approximate = true}"})
    for (double from : {-4.0, -1.0, 1.5})
      check("(%x: tensor<16xf64>) -> tensor<16xf64> {\n    %y = " +
                std::string(op) + R"( : tensor<16xf64>
    return %y : tensor<16xf64> })",
            {from, from + 2.5});
}
