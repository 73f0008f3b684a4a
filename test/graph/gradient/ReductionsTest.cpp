// Gradients of reductions, windows and batch norms.
//
// Covers: graph/gradient GeneralReductions
// Covers: graph/stablehlo WholeTensors

#include "graph/gradient/FiniteDifferences.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

TEST(Gradient, OfReductions) {
  for (const char *op : {"add", "maximum", "minimum"})
    check(std::string("(%x: tensor<3x4x2xf64>, %i: tensor<f64>) -> "
                      "tensor<4xf64> { %y = stablehlo.reduce(%x init: %i) "
                      "applies stablehlo.") +
          op +
          " across dimensions = [0, 2] : (tensor<3x4x2xf64>, tensor<f64>) -> "
          "tensor<4xf64>\n return %y : tensor<4xf64> }");
}

TEST(Gradient, OfReductionsByAnyBody) {
  check(R"((%x: tensor<3x5x2xf64>, %i: tensor<f64>) -> tensor<5xf64> {
    %y = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [2, 0]
        : (tensor<3x5x2xf64>, tensor<f64>) -> tensor<5xf64>
    return %y : tensor<5xf64> })");
  // The greatest, and what stands beside it.
  check(
      R"((%x: tensor<3x7xf64>, %z: tensor<3x7xf64>, %k: tensor<f64>) -> (tensor<3xf64>, tensor<3xf64>) {
    %i = stablehlo.constant dense<-9.0> : tensor<f64>
    %y:2 = "stablehlo.reduce"(%x, %z, %i, %k) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
      %p = stablehlo.compare GT, %a, %c : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %v = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f64>
      %w = stablehlo.select %p, %b, %d : tensor<i1>, tensor<f64>
      stablehlo.return %v, %w : tensor<f64>, tensor<f64>
    }) {dimensions = array<i64: 1>} : (tensor<3x7xf64>, tensor<3x7xf64>, tensor<f64>, tensor<f64>) -> (tensor<3xf64>, tensor<3xf64>)
    return %y#0, %y#1 : tensor<3xf64>, tensor<3xf64> })");
  for (const char *op : {"multiply", "maximum"})
    check(std::string(
              R"((%x: tensor<6x5xf64>, %i: tensor<f64>) -> tensor<4x6xf64> {
    %y = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.)") +
          op + R"( %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>,
        base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>,
        padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}
        : (tensor<6x5xf64>, tensor<f64>) -> tensor<4x6xf64>
    return %y : tensor<4x6xf64> })");
}

TEST(Gradient, OfWindows) {
  check(R"((%x: tensor<6x5xf64>, %i: tensor<f64>) -> tensor<4x6xf64> {
    %y = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>,
        base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>,
        padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}
        : (tensor<6x5xf64>, tensor<f64>) -> tensor<4x6xf64>
    return %y : tensor<4x6xf64> })");
  for (const char *op : {"maximum", "minimum"})
    check(std::string("(%x: tensor<6x5xf64>) -> tensor<3x2xf64> {\n"
                      "%i = stablehlo.constant dense<") +
          (op == std::string("maximum") ? "-9.0" : "9.0") +
          "> : tensor<f64>\n%y = \"stablehlo.reduce_window\"(%x, %i) ({\n"
          "^bb0(%a: tensor<f64>, %b: tensor<f64>):\n %s = stablehlo." +
          op +
          " %a, %b : tensor<f64>\n stablehlo.return %s : tensor<f64>\n"
          "}) {window_dimensions = array<i64: 2, 3>, window_strides = "
          "array<i64: 2, 2>} : (tensor<6x5xf64>, tensor<f64>) -> "
          "tensor<3x2xf64>\n return %y : tensor<3x2xf64> }");
}

TEST(Gradient, OfSelectAndScatter) {
  check(
      R"((%x: tensor<5x6xf64>, %s: tensor<3x3xf64>, %i: tensor<f64>) -> tensor<5x6xf64> {
    %y = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %p = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) {window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>,
        padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}
        : (tensor<5x6xf64>, tensor<3x3xf64>, tensor<f64>) -> tensor<5x6xf64>
    return %y : tensor<5x6xf64> })");
}

TEST(Gradient, OfBatchNorms) {
  check(
      R"((%x: tensor<3x4x2xf64>, %s: tensor<4xf64>, %o: tensor<4xf64>, %m: tensor<4xf64>,
      %v: tensor<4xf64>) -> tensor<3x4x2xf64> {
    %y = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {epsilon = 0.01 : f32, feature_index = 1 : i64}
        : (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<3x4x2xf64>
    return %y : tensor<3x4x2xf64> })",
      {0.4, 1.6});
  check(R"((%x: tensor<3x4x2xf64>, %s: tensor<4xf64>, %o: tensor<4xf64>)
      -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>) {
    %y:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.1 : f32, feature_index = 1 : i64}
        : (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>)
    return %y#0, %y#1, %y#2 : tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64> })");
}

/// Through the batch's statistics and those that move, from each of the four.
TEST(Gradient, OfBatchStatistics) {
  const struct {
    const char *shape, *features, *index;
  } cases[] = {{"3x4x2", "4", "1"},
               {"4x3", "4", "0"},
               {"2x2x2x3", "3", "3"},
               {"1x5", "5", "1"}};
  for (const auto &[shape, features, index] : cases)
    for (const char *unbiased : {"", ", unbiased"}) {
      const std::string x = std::string("tensor<") + shape + "xf64>",
                        v = std::string("tensor<") + features + "xf64>",
                        results =
                            "(" + v + ", " + v + ", " + v + ", " + v + ")";
      const std::string norm =
          "%y:4 = \"nn.mean_var_norm\"(%x, %m, %v) {feature_index = " +
          std::string(index) + " : i64, momentum = 0.7 : f64" + unbiased +
          "} : (" + x + ", " + v + ", " + v + ") -> " + results + "\n";
      const std::string start =
          "(%x: " + x + ", %m: " + v + ", %v: " + v + ") -> ";
      check(start + results + " {\n" + norm +
            "return %y#0, %y#1, %y#2, %y#3 : " + v + ", " + v + ", " + v +
            ", " + v + " }");
      for (const char *one : {"0", "1", "2", "3"})
        check(start + v + " {\n" + norm + "return %y#" + one + " : " + v +
              " }");
    }
}

/// Bodies that make tensors of their scalars, branch, and read from outside.
TEST(Gradient, OfReductionsByTensors) {
  const std::string body = R"(
      %t = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f64>) -> tensor<3xf64>
      %k = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
      %m = stablehlo.multiply %t, %k : tensor<3xf64>
      %o = stablehlo.compare GT, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %w = "stablehlo.if"(%o) ({
        %f = stablehlo.reverse %m, dims = [0] : tensor<3xf64>
        stablehlo.return %f : tensor<3xf64>
      }, {
        %f = stablehlo.concatenate %m, %k, dim = 0 : (tensor<3xf64>, tensor<3xf64>) -> tensor<6xf64>
        %g = stablehlo.slice %f [2:5] : (tensor<6xf64>) -> tensor<3xf64>
        stablehlo.return %g : tensor<3xf64>
      }) : (tensor<i1>) -> tensor<3xf64>
      %q = "stablehlo.sort"(%w) <{dimension = 0 : i64}> ({
      ^bb0(%c: tensor<f64>, %d: tensor<f64>):
        %l = stablehlo.compare LT, %c, %d : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
      }) : (tensor<3xf64>) -> tensor<3xf64>
      %u = stablehlo.slice %q [1:2] : (tensor<3xf64>) -> tensor<1xf64>
      %v = stablehlo.reshape %u : (tensor<1xf64>) -> tensor<f64>
      %h = stablehlo.multiply %v, %p : tensor<f64>
      %r = stablehlo.add %h, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>)";
  check(
      R"((%x: tensor<2x4xf64>, %i: tensor<f64>, %p: tensor<f64>) -> tensor<2xf64> {
    %y = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):)" +
      body + R"(
    }) {dimensions = array<i64: 1>} : (tensor<2x4xf64>, tensor<f64>) -> tensor<2xf64>
    return %y : tensor<2xf64> })");
  check(
      R"((%x: tensor<4xf64>, %z: tensor<4xf64>, %p: tensor<f64>) -> tensor<4xf64> {
    %y = "stablehlo.map"(%x, %z) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):)" +
      body + R"(
    }) {dimensions = array<i64: 0>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
}

/// What is reduced has no elements, or the result has none.
TEST(Gradient, OfNoElements) {
  for (const char *combiner : {"add", "multiply", "maximum"}) {
    const std::string region = std::string(R"(({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.)") + combiner +
                               R"( %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }))";
    check("(%x: tensor<3x0xf64>, %i: tensor<f64>) -> tensor<3xf64> {\n%y = "
          "\"stablehlo.reduce\"(%x, %i) " +
          region +
          " {dimensions = array<i64: 1>} : (tensor<3x0xf64>, tensor<f64>) -> "
          "tensor<3xf64>\nreturn %y : tensor<3xf64> }");
  }
  check(R"((%x: tensor<0xf64>, %i: tensor<f64>) -> tensor<5xf64> {
    %y = stablehlo.pad %x, %i, low = [2], high = [3], interior = [0] : (tensor<0xf64>, tensor<f64>) -> tensor<5xf64>
    return %y : tensor<5xf64> })");
  check(R"((%x: tensor<1x0x4xf64>, %k: tensor<2x0x3xf64>) -> tensor<1x2x2xf64> {
    %y = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x0x4xf64>, tensor<2x0x3xf64>) -> tensor<1x2x2xf64>
    return %y : tensor<1x2x2xf64> })");
}

/// An initial value that is no limit of the numbers takes part.
TEST(Gradient, OfWindowsFromANumber) {
  for (const char *combiner : {"maximum", "minimum"})
    check(
        std::string(
            R"((%x: tensor<4x5xf64>, %i: tensor<f64>) -> (tensor<2x5xf64>, tensor<2x5xf64>) {
    %c = stablehlo.constant dense<0.1> : tensor<f64>
    %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.)") +
        combiner + R"( %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<4x5xf64>, tensor<f64>) -> tensor<2x5xf64>
    %z = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.)" +
        combiner + R"( %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) : (tensor<4x5xf64>, tensor<f64>) -> tensor<2x5xf64>
    return %y, %z : tensor<2x5xf64>, tensor<2x5xf64> })");
}

/// Of many places a loop is made, with holes, steps and what is read from
/// outside.
TEST(Gradient, OfWindowsOfManyPlaces) {
  check(
      R"((%x: tensor<6x2xf64>, %k: tensor<f64>, %i: tensor<f64>) -> tensor<2x2xf64> {
    %f = stablehlo.constant dense<0.9> : tensor<f64>
    %b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<6x2xf64>) -> tensor<90x6x2xf64>
    %w = "stablehlo.reduce_window"(%b, %i) ({
    ^bb0(%a: tensor<f64>, %c: tensor<f64>):
      %s = stablehlo.multiply %c, %k : tensor<f64>
      %t = stablehlo.sine %s : tensor<f64>
      %u = stablehlo.multiply %a, %f : tensor<f64>
      %v = stablehlo.add %t, %u : tensor<f64>
      stablehlo.return %v : tensor<f64>
    }) {window_dimensions = array<i64: 89, 3, 1>, window_strides = array<i64: 3, 3, 1>,
        window_dilations = array<i64: 1, 2, 1>, padding = dense<[[1, 0], [0, 2], [0, 0]]> : tensor<3x2xi64>}
        : (tensor<90x6x2xf64>, tensor<f64>) -> tensor<1x2x2xf64>
    %y = stablehlo.reshape %w : (tensor<1x2x2xf64>) -> tensor<2x2xf64>
    return %y : tensor<2x2xf64> })");
  check(R"((%x: tensor<2xf64>, %i: tensor<f64>) -> tensor<2xf64> {
    %f = stablehlo.constant dense<0.99> : tensor<f64>
    %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xf64>) -> tensor<4100x2xf64>
    %w = "stablehlo.reduce_window"(%b, %i) ({
    ^bb0(%a: tensor<f64>, %c: tensor<f64>):
      %t = stablehlo.sine %c : tensor<f64>
      %u = stablehlo.multiply %a, %f : tensor<f64>
      %v = stablehlo.add %t, %u : tensor<f64>
      stablehlo.return %v : tensor<f64>
    }) {window_dimensions = array<i64: 4100, 1>} : (tensor<4100x2xf64>, tensor<f64>) -> tensor<1x2xf64>
    %y = stablehlo.reshape %w : (tensor<1x2xf64>) -> tensor<2xf64>
    return %y : tensor<2xf64> })");
}

/// A loop in a body is one loop for all elements; its counter is the same for
/// all of them.
TEST(Gradient, OfReductionsByALoop) {
  check(R"((%x: tensor<5x2xf64>, %i: tensor<f64>) -> tensor<2xf64> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %y = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %half = stablehlo.constant dense<0.5> : tensor<f64>
      %r:4 = "stablehlo.while"(%zero, %half, %a, %half) ({
      ^bb0(%n: tensor<i32>, %s: tensor<f64>, %t: tensor<f64>, %u: tensor<f64>):
        %p = stablehlo.compare LT, %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%n: tensor<i32>, %s: tensor<f64>, %t: tensor<f64>, %u: tensor<f64>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %m = stablehlo.add %n, %one : tensor<i32>
        %v = stablehlo.multiply %t, %half : tensor<f64>
        %w = stablehlo.sine %s : tensor<f64>
        %z = stablehlo.add %v, %b : tensor<f64>
        %q = stablehlo.multiply %u, %half : tensor<f64>
        %k = stablehlo.add %z, %q : tensor<f64>
        stablehlo.return %m, %t, %k, %q : tensor<i32>, tensor<f64>, tensor<f64>, tensor<f64>
      }) : (tensor<i32>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<i32>, tensor<f64>, tensor<f64>, tensor<f64>)
      %o = stablehlo.add %r#1, %r#2 : tensor<f64>
      %h = stablehlo.multiply %o, %r#3 : tensor<f64>
      stablehlo.return %h : tensor<f64>
    }) {dimensions = array<i64: 0>} : (tensor<5x2xf64>, tensor<f64>) -> tensor<2xf64>
    return %y : tensor<2xf64> })");
}

/// A loop that runs more often for some elements than for others, and gives
/// them a number that nothing goes back through.
TEST(Gradient, OfReductionsByALoopOfDifferingLength) {
  check(R"((%x: tensor<7x2xf64>, %i: tensor<f64>) -> tensor<2xf64> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %y = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %large = stablehlo.abs %a : tensor<f64>
      %r:2 = "stablehlo.while"(%zero, %large) ({
      ^bb0(%n: tensor<i32>, %s: tensor<f64>):
        %limit = stablehlo.constant dense<0.1> : tensor<f64>
        %p = stablehlo.compare GT, %s, %limit : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%n: tensor<i32>, %s: tensor<f64>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %half = stablehlo.constant dense<0.5> : tensor<f64>
        %m = stablehlo.add %n, %one : tensor<i32>
        %t = stablehlo.multiply %s, %half : tensor<f64>
        stablehlo.return %m, %t : tensor<i32>, tensor<f64>
      }) : (tensor<i32>, tensor<f64>) -> (tensor<i32>, tensor<f64>)
      %trips = stablehlo.convert %r#0 : (tensor<i32>) -> tensor<f64>
      %o = stablehlo.multiply %a, %trips : tensor<f64>
      %h = stablehlo.add %o, %b : tensor<f64>
      stablehlo.return %h : tensor<f64>
    }) {dimensions = array<i64: 0>} : (tensor<7x2xf64>, tensor<f64>) -> tensor<2xf64>
    return %y : tensor<2xf64> })");
}

TEST(Gradient, SaysThatLoopsOfDifferingLengthWantALimit) {
  Model model = parse(
      R"(func.func @main(%x: tensor<5xf64>, %i: tensor<f64>) -> tensor<f64> {
    %y = "stablehlo.reduce"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = "stablehlo.while"(%a) ({
      ^bb0(%s: tensor<f64>):
        %p = stablehlo.compare LT, %s, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%s: tensor<f64>):
        %m = stablehlo.add %s, %s : tensor<f64>
        stablehlo.return %m : tensor<f64>
      }) : (tensor<f64>) -> tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) {dimensions = array<i64: 0>} : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
    return %y : tensor<f64> })");
  const std::string message = refusalOf(model);
  EXPECT_EQ(
      message.find("'stablehlo.while' op has no gradient, since it is not "
                   "known how often it runs (max-trips bounds it)"),
      0u)
      << message;
}
