// Gradients of graphs, and what is said of those that have none.
//
// Covers: graph/gradient Gradient

#include "graph/gradient/FiniteDifferences.h"
#include "interpreter/Interpreter.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

/// Values that are used twice, and what leads nowhere.
TEST(Gradient, OfGraphs) {
  check(R"((%x: tensor<4xf64>, %unused: tensor<4xf64>) -> tensor<4xf64> {
    %a = stablehlo.multiply %x, %x : tensor<4xf64>
    %b = stablehlo.tanh %a : tensor<4xf64>
    %dead = stablehlo.sine %unused : tensor<4xf64>
    %c = stablehlo.add %b, %x : tensor<4xf64>
    %d = stablehlo.multiply %c, %b : tensor<4xf64>
    return %d : tensor<4xf64> })");
}

/// What has no gradient of its own is differentiated through what it is made
/// of.
TEST(Gradient, ThroughDecompositions) {
  checkUnary("nn.relu");
  check(R"((%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
    %y = "nn.softmax"(%x) {axes = array<i64: 1>} : (tensor<3x5xf64>) -> tensor<3x5xf64>
    return %y : tensor<3x5xf64> })");
}

TEST(Gradient, ThroughBodiesAndCallees) {
  check(R"((%x: tensor<4xf64>, %s: tensor<f64>) -> tensor<4xf64> {
    %y = "stablehlo.map"(%x, %x) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %c = stablehlo.multiply %a, %b : tensor<f64>
      %d = stablehlo.add %c, %s : tensor<f64>
      stablehlo.return %d : tensor<f64>
    }) {dimensions = array<i64: 0>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  check(R"((%x: tensor<4xf64>, %z: tensor<4xf64>) -> tensor<4xf64> {
    %y = stablehlo.composite "a.b" %x, %z {decomposition = @inner} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> }
  func.func private @inner(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
    %t = stablehlo.tanh %a : tensor<4xf64>
    %y = stablehlo.multiply %t, %b : tensor<4xf64>
    return %y : tensor<4xf64> })");
  check(
      R"((%x: tensor<3x4xf64>, %s: tensor<4xf64>, %m: tensor<4xf64>, %v: tensor<4xf64>, %g: tensor<3x4xf64>)
      -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) {
    %y:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {epsilon = 0.1 : f32, feature_index = 1 : i64}
        : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<3x4xf64>)
        -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>)
    return %y#0, %y#1, %y#2 : tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64> })",
      {0.4, 1.6});
}

/// What rounds lets the gradient through.
TEST(Gradient, OfRounding) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.reduce_precision %x, format = e5m2 : tensor<4xf32>
    return %y : tensor<4xf32> })");
  ASSERT_TRUE(model.module());
  Type type = model.entry().getArgumentTypes()[0];
  Tensor input = randomOf(type, 1, {}), weight = randomOf(type, 2, {});
  std::vector<Tensor> weights = {weight}, inputs = {input};
  ASSERT_TRUE(succeeded(differentiate(model, weights)));
  auto got = interpret(model.entry(), inputs);
  ASSERT_TRUE(got) << got.error().message();
  for (int64_t i = 0; i < weight.size(); ++i)
    EXPECT_EQ((*got)[0].toDouble(i), weight.toDouble(i));
}

TEST(Gradient, SaysWhatHasNone) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %y = stablehlo.custom_call @nobody(%x) : (tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  const std::string message = refusalOf(model);
  EXPECT_EQ(message, "'stablehlo.custom_call' op has no gradient");
}

/// One error for one cause, at the operation inside the branch, and the way.
TEST(Gradient, SaysTheWay) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %t = stablehlo.tanh %x : tensor<4xf64>
    %p = stablehlo.constant dense<true> : tensor<i1>
    %y = "stablehlo.if"(%p) ({
      %n = stablehlo.negate %t : tensor<4xf64>
      %c = stablehlo.custom_call @nobody(%n) : (tensor<4xf64>) -> tensor<4xf64>
      %s = stablehlo.sine %c : tensor<4xf64>
      stablehlo.return %s : tensor<4xf64>
    }, {
      stablehlo.return %t : tensor<4xf64>
    }) : (tensor<i1>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  const std::string message = refusalOf(model);
  EXPECT_TRUE(StringRef(message).starts_with(
      "'stablehlo.custom_call' op has no gradient; "
      "what is differentiated depends on it through "
      "stablehlo.sine at "))
      << message;
  EXPECT_NE(message.find("through stablehlo.negate at "), std::string::npos)
      << message;
}

TEST(Gradient, SaysThatSizesAreNotKnown) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %d = stablehlo.negate %x : (tensor<4xf64>) -> tensor<?xf64>
    %y = stablehlo.sine %d : (tensor<?xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  const std::string message = refusalOf(model);
  EXPECT_NE(message.find("'stablehlo.sine' op has no gradient, since its sizes "
                         "are not known; it depends on"),
            std::string::npos)
      << message;
}
