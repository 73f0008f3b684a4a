//===- RegionExpansionTest.cpp - regions of more than scalars -------------===//
//
// Covers: backend/cpu/legalize ExpandRegions LoopWriter SortByLoops

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

namespace {

/// %sum: f32, which is %a three times or 12 if %a is not positive, through
/// tensors that leave a branch.
const std::string branching = R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %p = stablehlo.compare GT, %a, %zero
          : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = "stablehlo.if"(%p) ({
        %same = stablehlo.broadcast_in_dim %a, dims = []
            : (tensor<f32>) -> tensor<3xf32>
        stablehlo.return %same : tensor<3xf32>
      }, {
        %other = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
        stablehlo.return %other : tensor<3xf32>
      }) : (tensor<i1>) -> tensor<3xf32>
      %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add
          across dimensions = [0]
          : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
)";

/// %sum: f32, an element of a sorted tensor.
const std::string sorting = R"(
      %all = stablehlo.broadcast_in_dim %a, dims = []
          : (tensor<f32>) -> tensor<4xf32>
      %factors = stablehlo.constant dense<[0.5, -1.0, 2.0, -0.25]>
          : tensor<4xf32>
      %products = stablehlo.multiply %all, %factors : tensor<4xf32>
      %sorted = "stablehlo.sort"(%products) ({
      ^bb0(%l: tensor<f32>, %m: tensor<f32>):
        %less = stablehlo.compare LT, %l, %m
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      %second = stablehlo.slice %sorted [1:2]
          : (tensor<4xf32>) -> tensor<1xf32>
      %sum = stablehlo.reshape %second : (tensor<1xf32>) -> tensor<f32>
)";

/// %sum: f32, by a loop that carries a tensor.
const std::string looping = R"(
      %start = stablehlo.constant dense<0> : tensor<i32>
      %pair = stablehlo.broadcast_in_dim %a, dims = []
          : (tensor<f32>) -> tensor<2xf32>
      %w:2 = stablehlo.while(%round = %start, %carried = %pair)
          : tensor<i32>, tensor<2xf32>
        cond {
          %rounds = stablehlo.constant dense<3> : tensor<i32>
          %again = stablehlo.compare LT, %round, %rounds
              : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %again : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %following = stablehlo.add %round, %one : tensor<i32>
          %back = stablehlo.reverse %carried, dims = [0] : tensor<2xf32>
          %scales = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
          %scaled = stablehlo.multiply %back, %scales : tensor<2xf32>
          stablehlo.return %following, %scaled : tensor<i32>, tensor<2xf32>
        }
      %last = stablehlo.slice %w#1 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      %sum = stablehlo.reshape %last : (tensor<1xf32>) -> tensor<f32>
)";

/// %sum: f32, by a function of the process.
const std::string calling = R"(
      %all = stablehlo.broadcast_in_dim %a, dims = []
          : (tensor<f32>) -> tensor<4xf32>
      %waves = stablehlo.fft %all, type = RFFT, length = [4]
          : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
      %real = stablehlo.real %waves
          : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      %first = stablehlo.slice %real [0:1] : (tensor<3xf32>) -> tensor<1xf32>
      %sum = stablehlo.reshape %first : (tensor<1xf32>) -> tensor<f32>
)";

/// %sum: f32, an element of an updated tensor.
const std::string scattering = R"(
      %target = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
      %where = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
      %what = stablehlo.broadcast_in_dim %a, dims = []
          : (tensor<f32>) -> tensor<2xf32>
      %placed = "stablehlo.scatter"(%target, %where, %what) ({
      ^bb0(%l: tensor<f32>, %m: tensor<f32>):
        %both = stablehlo.add %l, %m : tensor<f32>
        stablehlo.return %both : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<
              inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
              index_vector_dim = 1>,
          indices_are_sorted = false, unique_indices = false}
          : (tensor<3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<3xf32>
      %middle = stablehlo.slice %placed [1:2]
          : (tensor<3xf32>) -> tensor<1xf32>
      %sum = stablehlo.reshape %middle : (tensor<1xf32>) -> tensor<f32>
)";

/// Computes %q: f32 by \p tensors, whatever it is, then sums up: so much is
/// associative.
std::string adding(const std::string &tensors) {
  return tensors + R"(
      %none = stablehlo.subtract %sum, %sum : tensor<f32>
      %left = stablehlo.add %none, %a : tensor<f32>
      %q = stablehlo.add %left, %b : tensor<f32>
)";
}

const std::vector<std::string> allWays = {branching, sorting, looping, calling,
                                          scattering};

} // namespace

TEST(RegionExpansion, Map) {
  for (const std::string &way : allWays)
    for (auto [shape, dims] :
         {std::pair<const char *, const char *>{"4x3x", ": 0, 1"},
          {"", ""},
          {"0x2x", ": 0, 1"}}) {
      const std::string type = std::string("tensor<") + shape + "f32>";
      EXPECT_EQ(differs("(%x: " + type + ") -> " + type + R"( {
    %r = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<f32>):)" +
                        way + R"(
      stablehlo.return %sum : tensor<f32>
    }) {dimensions = array<i64)" +
                        dims + ">} : (" + type + ") -> " + type +
                        "\n return %r : " + type + "\n}"),
                "")
          << way << type;
    }
}

TEST(RegionExpansion, Reduce) {
  for (const std::string &way : allWays)
    EXPECT_EQ(differs(R"((%x: tensor<3x4x2x5xf32>, %y: tensor<3x4x2x5xi32>)
        -> (tensor<4x5xf64>, tensor<4x5xi32>) {
      %z = stablehlo.constant dense<0.5> : tensor<f64>
      %o = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = "stablehlo.reduce"(%x, %y, %z, %o) ({
      ^bb0(%wa: tensor<f64>, %c: tensor<i32>, %wb: tensor<f64>,
           %d: tensor<i32>):
        %a = stablehlo.convert %wa : (tensor<f64>) -> tensor<f32>
        %b = stablehlo.convert %wb : (tensor<f64>) -> tensor<f32>)" +
                          adding(way) + R"(
        %wq = stablehlo.convert %q : (tensor<f32>) -> tensor<f64>
        %e = stablehlo.xor %c, %d : tensor<i32>
        stablehlo.return %wq, %e : tensor<f64>, tensor<i32>
      }) {dimensions = array<i64: 2, 0>}
          : (tensor<3x4x2x5xf32>, tensor<3x4x2x5xi32>, tensor<f64>, tensor<i32>)
          -> (tensor<4x5xf64>, tensor<4x5xi32>)
      return %r#0, %r#1 : tensor<4x5xf64>, tensor<4x5xi32>
    })",
                      {1e-4, 1e-4}),
              "")
        << way;
}

TEST(RegionExpansion, ReduceWindow) {
  for (const std::string &way : allWays)
    EXPECT_EQ(differs(R"((%x: tensor<6x7xf32>, %y: tensor<6x7xf32>)
        -> (tensor<4x7xf32>, tensor<4x7xf32>) {
      %z = stablehlo.constant dense<0.5> : tensor<f32>
      %r:2 = "stablehlo.reduce_window"(%x, %y, %z, %z) ({
      ^bb0(%a: tensor<f32>, %a1: tensor<f32>, %b: tensor<f32>,
           %b1: tensor<f32>):)" +
                          adding(way) + R"(
        %q1 = stablehlo.add %a1, %b1 : tensor<f32>
        stablehlo.return %q, %q1 : tensor<f32>, tensor<f32>
      }) {window_dimensions = array<i64: 2, 3>,
          window_strides = array<i64: 3, 1>, base_dilations = array<i64: 2, 1>,
          window_dilations = array<i64: 1, 2>,
          padding = dense<[[1, 0], [2, 2]]> : tensor<2x2xi64>}
          : (tensor<6x7xf32>, tensor<6x7xf32>, tensor<f32>, tensor<f32>)
          -> (tensor<4x7xf32>, tensor<4x7xf32>)
      return %r#0, %r#1 : tensor<4x7xf32>, tensor<4x7xf32>
    })",
                      {1e-4, 1e-4}),
              "")
        << way;
}

TEST(RegionExpansion, Scatter) {
  for (const std::string &way : allWays)
    EXPECT_EQ(differs(R"((%x: tensor<2x5x4xf32>, %u: tensor<2x3x4xf32>,
        %y: tensor<2x5x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x5x4xf32>) {
      %i = stablehlo.constant dense<[[4, 1, 4], [-1, 7, 0]]> : tensor<2x3xi64>
      %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %u) ({
      ^bb0(%a: tensor<f32>, %c: tensor<f32>, %b: tensor<f32>,
           %d: tensor<f32>):)" +
                          adding(way) + R"(
        stablehlo.return %q, %c : tensor<f32>, tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<
              update_window_dims = [2], inserted_window_dims = [1],
              input_batching_dims = [0], scatter_indices_batching_dims = [0],
              scatter_dims_to_operand_dims = [1], index_vector_dim = 2>,
          indices_are_sorted = false, unique_indices = false}
          : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x3xi64>,
             tensor<2x3x4xf32>, tensor<2x3x4xf32>)
          -> (tensor<2x5x4xf32>, tensor<2x5x4xf32>)
      return %r#0, %r#1 : tensor<2x5x4xf32>, tensor<2x5x4xf32>
    })",
                      {1e-4, 1e-4}),
              "")
        << way;
}

TEST(RegionExpansion, SelectAndScatter) {
  for (const std::string &way : allWays)
    EXPECT_EQ(differs(R"((%x: tensor<1x7x8x2xf32>, %s: tensor<1x4x4x2xf32>,
        %z: tensor<f32>) -> tensor<1x7x8x2xf32> {
      %r = "stablehlo.select_and_scatter"(%x, %s, %z) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):)" +
                          adding(way) + R"(
        %c = stablehlo.subtract %q, %b : tensor<f32>
        %k = stablehlo.compare GE, %c, %b
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %k : tensor<i1>
      }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):)" +
                          adding(way) + R"(
        stablehlo.return %q : tensor<f32>
      }) {window_dimensions = array<i64: 1, 3, 3, 1>,
          window_strides = array<i64: 1, 2, 2, 1>,
          padding = dense<[[0, 0], [1, 1], [1, 0], [0, 0]]> : tensor<4x2xi64>}
          : (tensor<1x7x8x2xf32>, tensor<1x4x4x2xf32>, tensor<f32>)
          -> tensor<1x7x8x2xf32>
      return %r : tensor<1x7x8x2xf32>
    })",
                      {1e-4, 1e-4}),
              "")
        << way;
}

TEST(RegionExpansion, Sort) {
  for (const std::string &way : allWays)
    for (int dim : {0, 2})
      EXPECT_EQ(differs(R"((%x: tensor<5x7x2xf32>, %y: tensor<5x7x2xi32>)
        -> (tensor<5x7x2xf32>, tensor<5x7x2xi32>) {
      %r:2 = "stablehlo.sort"(%x, %y) ({
      ^bb0(%f: tensor<f32>, %g: tensor<f32>, %c: tensor<i32>,
           %d: tensor<i32>):
        %a = stablehlo.floor %f : tensor<f32>
        %b = stablehlo.floor %g : tensor<f32>)" +
                        adding(way) + R"(
        %e = stablehlo.subtract %q, %b : tensor<f32>
        %k = stablehlo.compare LT, %e, %b
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %k : tensor<i1>
      }) {dimension = )" +
                        std::to_string(dim) +
                        R"( : i64, is_stable = true}
          : (tensor<5x7x2xf32>, tensor<5x7x2xi32>)
          -> (tensor<5x7x2xf32>, tensor<5x7x2xi32>)
      return %r#0, %r#1 : tensor<5x7x2xf32>, tensor<5x7x2xi32>
    })"),
                "")
          << way << dim;
}

TEST(RegionExpansion, InLoopsAndInOneAnother) {
  EXPECT_EQ(differs(R"((%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%i = %z, %c = %x) : tensor<i32>, tensor<4x3xf32>
      cond {
        %n = stablehlo.constant dense<3> : tensor<i32>
        %p = stablehlo.compare LT, %i, %n
            : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %k = stablehlo.add %i, %one : tensor<i32>
        %d = "stablehlo.map"(%c) ({
        ^bb0(%g: tensor<f32>):
          %two = stablehlo.broadcast_in_dim %g, dims = []
              : (tensor<f32>) -> tensor<2xf32>
          %m = "stablehlo.map"(%two) ({
          ^bb0(%a: tensor<f32>):)" +
                    sorting + R"(
            stablehlo.return %sum : tensor<f32>
          }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
          %s = stablehlo.slice %m [0:1] : (tensor<2xf32>) -> tensor<1xf32>
          %e = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
          stablehlo.return %e : tensor<f32>
        }) {dimensions = array<i64: 0, 1>}
            : (tensor<4x3xf32>) -> tensor<4x3xf32>
        stablehlo.return %k, %d : tensor<i32>, tensor<4x3xf32>
      }
    return %w#1 : tensor<4x3xf32>
  })"),
            "");
}

TEST(RegionExpansion, LargeTables) {
  for (const char *type :
       {"f32", "f64", "i1", "ui8", "i64", "f8E4M3FN", "bf16", "complex<f32>"}) {
    const std::string element = type;
    std::string values;
    for (int i = 0; i < 100; ++i) {
      const std::string number = std::to_string(i * 7 % 13);
      values += i == 0 ? "" : ", ";
      if (element == "i1")
        values += i % 3 == 0 ? "true" : "false";
      else if (element[0] == 'c')
        values += "(" + number + ".0, 1.0)";
      else
        values +=
            element.find('i') == std::string::npos ? number + ".0" : number;
    }
    EXPECT_EQ(differs("(%x: tensor<40xi32>) -> tensor<40x" + element +
                      R"(> {
      %r = "stablehlo.map"(%x) ({
      ^bb0(%a: tensor<i32>):
        %n = stablehlo.constant dense<37> : tensor<i32>
        %i = stablehlo.multiply %a, %n : tensor<i32>
        %t = stablehlo.constant dense<[)" +
                      values + "]> : tensor<100x" + element + R"(>
        %s = stablehlo.dynamic_slice %t, %i, sizes = [1]
            : (tensor<100x)" +
                      element + ">, tensor<i32>) -> tensor<1x" + element + R"(>
        %v = stablehlo.reshape %s : (tensor<1x)" +
                      element + ">) -> tensor<" + element + R"(>
        stablehlo.return %v : tensor<)" +
                      element + R"(>
      }) {dimensions = array<i64: 0>} : (tensor<40xi32>) -> tensor<40x)" +
                      element + ">\n return %r : tensor<40x" + element +
                      ">\n}"),
              "")
        << type;
  }
}

TEST(RegionExpansion, ProductsOfProducts) {
  std::string products;
  for (int i = 0; i < 24; ++i) {
    const std::string from = "%m" + std::to_string(i),
                      to = "%m" + std::to_string(i + 1);
    products += to + " = stablehlo.dot_general " + from + ", " + from +
                ", contracting_dims = [1] x [0] : (tensor<2x2xf32>, "
                "tensor<2x2xf32>) -> tensor<2x2xf32>\n";
  }
  EXPECT_EQ(differs(R"((%x: tensor<5xf32>) -> tensor<5xf32> {
    %r = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<f32>):
      %v = stablehlo.broadcast_in_dim %a, dims = []
          : (tensor<f32>) -> tensor<2x2xf32>
      %f = stablehlo.constant dense<[[0.5, 0.25], [0.125, 0.5]]>
          : tensor<2x2xf32>
      %m0 = stablehlo.multiply %v, %f : tensor<2x2xf32>
)" + products + R"(
      %s = stablehlo.slice %m24 [1:2, 0:1]
          : (tensor<2x2xf32>) -> tensor<1x1xf32>
      %e = stablehlo.reshape %s : (tensor<1x1xf32>) -> tensor<f32>
      stablehlo.return %e : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<5xf32>
    return %r : tensor<5xf32>
  })"),
            "");
}

TEST(RegionExpansion, InitialValuesWhereWindowsReachBeyond) {
  EXPECT_EQ(differs(R"((%x: tensor<6x5xf32>) -> tensor<7x9xf32> {
    %z = stablehlo.constant dense<0.5> : tensor<f32>
    %r = "stablehlo.reduce_window"(%x, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {window_dimensions = array<i64: 2, 3>,
        base_dilations = array<i64: 1, 2>,
        padding = dense<[[1, 1], [2, 0]]> : tensor<2x2xi64>}
        : (tensor<6x5xf32>, tensor<f32>) -> tensor<7x9xf32>
    return %r : tensor<7x9xf32>
  })"),
            "");
}
