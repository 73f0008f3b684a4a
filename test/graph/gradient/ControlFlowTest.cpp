// Gradients of branches and loops.

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

/// A parameter that only a region reads, by a branch and by a loop.
TEST(Gradient, OfBranches) {
  for (const char *pred : {"true", "false"})
    check(std::string(
              "(%x: tensor<4xf64>, %p: tensor<4xf64>) -> tensor<4xf64> {\n"
              "%c = stablehlo.constant dense<") +
          pred + R"(> : tensor<i1>
    %y:2 = "stablehlo.if"(%c) ({
      %a = stablehlo.multiply %p, %x : tensor<4xf64>
      %i = stablehlo.constant dense<1> : tensor<i32>
      stablehlo.return %a, %i : tensor<4xf64>, tensor<i32>
    }, {
      %i = stablehlo.constant dense<2> : tensor<i32>
      stablehlo.return %x, %i : tensor<4xf64>, tensor<i32>
    }) : (tensor<i1>) -> (tensor<4xf64>, tensor<i32>)
    return %y#0 : tensor<4xf64> })");
  for (const char *index : {"0", "1", "7"})
    check(std::string(
              "(%x: tensor<4xf64>, %p: tensor<4xf64>) -> tensor<4xf64> {\n"
              "%c = stablehlo.constant dense<") +
          index + R"(> : tensor<i32>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %q = stablehlo.tanh %p : tensor<4xf64>
    %y = "stablehlo.case"(%c) ({
      %a = stablehlo.multiply %q, %q : tensor<4xf64>
      stablehlo.return %a : tensor<4xf64>
    }, {
      %a = stablehlo.sine %x : tensor<4xf64>
      stablehlo.return %a : tensor<4xf64>
    }, {
      %a = "stablehlo.if"(%t) ({
        %b = stablehlo.multiply %q, %x : tensor<4xf64>
        stablehlo.return %b : tensor<4xf64>
      }, {
        stablehlo.return %x : tensor<4xf64>
      }) : (tensor<i1>) -> tensor<4xf64>
      stablehlo.return %a : tensor<4xf64>
    }) : (tensor<i32>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
}

TEST(Gradient, OfLoops) {
  // Three trips; a state is an integer, one passes through, a parameter is
  // captured.
  for (const char *end : {"0", "1", "7"})
    check(
        std::string(
            R"((%x: tensor<4xf64>, %p: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %start = stablehlo.constant dense<1> : tensor<i32>
    %w:3 = "stablehlo.while"(%start, %x, %p) ({
    ^bb0(%i: tensor<i32>, %s: tensor<4xf64>, %r: tensor<4xf64>):
      %end = stablehlo.constant dense<)") +
        end + R"(> : tensor<i32>
      %c = stablehlo.compare LE, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %s: tensor<4xf64>, %r: tensor<4xf64>):
      %two = stablehlo.constant dense<2> : tensor<i32>
      %next = stablehlo.add %i, %two : tensor<i32>
      %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f64>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f64>) -> tensor<4xf64>
      %a = stablehlo.multiply %s, %p : tensor<4xf64>
      %b = stablehlo.add %a, %g : tensor<4xf64>
      %d = stablehlo.sine %b : tensor<4xf64>
      %h = stablehlo.multiply %r, %s : tensor<4xf64>
      stablehlo.return %next, %d, %h : tensor<i32>, tensor<4xf64>, tensor<4xf64>
    }) : (tensor<i32>, tensor<4xf64>, tensor<4xf64>) -> (tensor<i32>, tensor<4xf64>, tensor<4xf64>)
    return %w#1, %w#2 : tensor<4xf64>, tensor<4xf64> })");
}

/// From 0 by 100 an i8 is never 120 or more as soon as it looks: it wraps.
TEST(Gradient, CountsNoTripsOfACounterThatWraps) {
  Model model = parse(R"(func.func @main(%x: tensor<f64>) -> tensor<f64> {
    %i = stablehlo.constant dense<0> : tensor<i8>
    %end = stablehlo.constant dense<120> : tensor<i8>
    %by = stablehlo.constant dense<100> : tensor<i8>
    %y:2 = "stablehlo.while"(%i, %x) ({
    ^bb0(%a: tensor<i8>, %b: tensor<f64>):
      %c = stablehlo.compare LT, %a, %end : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<i8>, %b: tensor<f64>):
      %n = stablehlo.add %a, %by : tensor<i8>
      %s = stablehlo.sine %b : tensor<f64>
      stablehlo.return %n, %s : tensor<i8>, tensor<f64>
    }) : (tensor<i8>, tensor<f64>) -> (tensor<i8>, tensor<f64>)
    return %y#1 : tensor<f64> })");
  const std::string message = refusalOf(model);
  EXPECT_NE(message.find("has no gradient, since it is not known how often it "
                         "runs (max-trips bounds it)"),
            std::string::npos)
      << message;
}

/// What a sum was before each trip nobody reads on the way back, nor what never
/// changes; what is squared is read.
TEST(Gradient, KeepsTheStatesThatAreRead) {
  Model model = parse(
      R"(func.func @main(%x: tensor<4xf64>, %p: tensor<4xf64>) -> tensor<4xf64> {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<5> : tensor<i32>
    %by = stablehlo.constant dense<1> : tensor<i32>
    %y:4 = "stablehlo.while"(%i, %x, %x, %p) ({
    ^bb0(%a: tensor<i32>, %s: tensor<4xf64>, %q: tensor<4xf64>, %r: tensor<4xf64>):
      %c = stablehlo.compare LT, %a, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<i32>, %s: tensor<4xf64>, %q: tensor<4xf64>, %r: tensor<4xf64>):
      %n = stablehlo.add %a, %by : tensor<i32>
      %t = stablehlo.add %s, %q : tensor<4xf64>
      %u = stablehlo.multiply %q, %q : tensor<4xf64>
      %v = stablehlo.multiply %u, %r : tensor<4xf64>
      stablehlo.return %n, %t, %v, %r : tensor<i32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
    }) : (tensor<i32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<i32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
    return %y#1 : tensor<4xf64> })");
  ASSERT_TRUE(succeeded(differentiate(
      model, {randomOf(model.entry().getResultTypes()[0], 1, {})})));
  unsigned kept = 0;
  model.entry().walk([&](stablehlo::DynamicUpdateSliceOp) { ++kept; });
  EXPECT_EQ(kept, 1u);
}

/// Nothing stands for the gradient by a tuple, and what a branch reads of one
/// would be lost.
TEST(Gradient, SaysThatTuplesHaveNone) {
  Model model = parse(R"(func.func @main(%x: tensor<f64>) -> tensor<f64> {
    %t = stablehlo.tuple %x : tuple<tensor<f64>>
    %p = stablehlo.constant dense<true> : tensor<i1>
    %y = "stablehlo.if"(%p) ({
      %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f64>>) -> tensor<f64>
      stablehlo.return %a : tensor<f64>
    }, {
      stablehlo.return %x : tensor<f64>
    }) : (tensor<i1>) -> tensor<f64>
    return %y : tensor<f64> })");
  const std::string message = refusalOf(model);
  EXPECT_NE(message.find("through stablehlo.tuple at "), std::string::npos)
      << message;
}

/// The call is the cause, not who reads a part of what it gives.
TEST(Gradient, NamesWhoGivesATuple) {
  Model model = parse(R"(func.func @main(%x: tensor<f64>) -> tensor<f64> {
    %n = stablehlo.negate %x : tensor<f64>
    %t = stablehlo.custom_call @nobody(%n) : (tensor<f64>) -> tuple<tensor<f64>, tensor<f64>>
    %y = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f64>, tensor<f64>>) -> tensor<f64>
    return %y : tensor<f64> })");
  const std::string message = refusalOf(model);
  EXPECT_EQ(message.find("'stablehlo.custom_call' op has no gradient; what is "
                         "differentiated depends on it through "
                         "stablehlo.get_tuple_element at "),
            0u)
      << message;
  EXPECT_NE(message.find("through stablehlo.negate at "), std::string::npos)
      << message;
}
