// Gradients of random numbers: with the same seed the same numbers are drawn,
// so differences see how they move with what they are drawn with.

#include "graph/gradient/FiniteDifferences.h"
#include "interpreter/Interpreter.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

namespace {

TEST(Gradient, OfRandomNumbers) {
  for (const char *distribution : {"UNIFORM", "NORMAL"})
    check(
        std::string(
            R"((%a: tensor<f64>, %w: tensor<f64>, %x: tensor<3x4xf64>) -> tensor<3x4xf64> {
    %s = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %b = stablehlo.exponential %w : tensor<f64>
    %c = stablehlo.add %a, %b : tensor<f64>
    %r = stablehlo.rng %a, %c, %s, distribution = )") +
            distribution +
            R"( : (tensor<f64>, tensor<f64>, tensor<2xi64>) -> tensor<3x4xf64>
    %t = stablehlo.sine %r : tensor<3x4xf64>
    %y = stablehlo.multiply %t, %x : tensor<3x4xf64>
    return %y : tensor<3x4xf64> })",
        {1, 2});
}

/// What is not stretched has numbers all the same.
TEST(Gradient, OfRandomNumbersOfNoWidth) {
  Model model = parse(
      R"(func.func @main(%a: tensor<f64>, %b: tensor<f64>) -> tensor<5xf64> {
    %s = stablehlo.constant dense<5> : tensor<1xi64>
    %r = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<5xf64>
    return %r : tensor<5xf64> })");
  ASSERT_TRUE(succeeded(differentiate(
      model, {Tensor::of<double>(ElementType::F64, {5},
                                 std::vector<double>{1, 2, 3, 4, 5})})));
  auto got = interpret(
      model.entry(),
      {Tensor::of<double>(ElementType::F64, {}, std::vector<double>{3}),
       Tensor::of<double>(ElementType::F64, {}, std::vector<double>{0})});
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ((*got)[0].toDouble(0), 15);
  EXPECT_EQ((*got)[1].toDouble(0), 0);
}

/// A loop runs again on the way back, and would draw other numbers.
TEST(Gradient, SaysThatLoopsWhichDrawHaveNone) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<5> : tensor<i32>
    %by = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %one = stablehlo.constant dense<1.0> : tensor<f64>
    %s = stablehlo.constant dense<4> : tensor<1xi64>
    %y:2 = "stablehlo.while"(%i, %x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<4xf64>):
      %c = stablehlo.compare LT, %a, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<i32>, %b: tensor<4xf64>):
      %n = stablehlo.add %a, %by : tensor<i32>
      %r = stablehlo.rng %zero, %one, %s, distribution = UNIFORM : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<4xf64>
      %t = stablehlo.multiply %b, %r : tensor<4xf64>
      stablehlo.return %n, %t : tensor<i32>, tensor<4xf64>
    }) : (tensor<i32>, tensor<4xf64>) -> (tensor<i32>, tensor<4xf64>)
    return %y#1 : tensor<4xf64> })");
  const std::string message = refusalOf(model);
  EXPECT_NE(
      message.find("has no gradient, since its region runs again in the "
                   "backward pass, where stablehlo.rng would not do the same"),
      std::string::npos)
      << message;
}

} // namespace
