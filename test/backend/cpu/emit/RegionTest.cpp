//===- RegionTest.cpp - regions of scalars inside kernels -----------------===//
//
// Covers: backend/cpu/emit ElementalRegion SelectAndScatterKernel
// Covers: backend/cpu/emit RegionForm
// Covers: backend/cpu/ir RegionUse
// Covers: passes RegionOnElements

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

TEST(Region, MapOfArithmetic) {
  EXPECT_EQ(differs(R"((%a: tensor<4x5xf32>, %b: tensor<4x5xf32>)
      -> tensor<4x5xf32> {
    %0 = "stablehlo.map"(%a, %b) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      %m = stablehlo.multiply %x, %c : tensor<f32>
      %s = stablehlo.subtract %m, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 0, 1>}
        : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  })"),
            "");
}

TEST(Region, ValuesFromOutside) {
  EXPECT_EQ(differs(R"((%a: tensor<6x5xf32>, %limit: tensor<f32>,
                       %row: tensor<3xf32>)
      -> (tensor<6xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %0 = "stablehlo.reduce"(%a, %zero) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.minimum %y, %limit : tensor<f32>
      %s = stablehlo.maximum %x, %m : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 1>}
        : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<f32>):
      %h = stablehlo.multiply %x, %half : tensor<f32>
      stablehlo.return %h : tensor<f32>
    }) {dimensions = array<i64: 0, 1>} : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %2 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<f32>):
      %p = stablehlo.slice %row [1:2] : (tensor<3xf32>) -> tensor<1xf32>
      %q = stablehlo.reshape %p : (tensor<1xf32>) -> tensor<f32>
      %h = stablehlo.multiply %x, %q : tensor<f32>
      stablehlo.return %h : tensor<f32>
    }) {dimensions = array<i64: 0, 1>} : (tensor<6x5xf32>) -> tensor<6x5xf32>
    return %0, %1, %2 : tensor<6xf32>, tensor<6x5xf32>, tensor<6x5xf32>
  })"),
            "");
}

TEST(Region, ControlFlowInMap) {
  EXPECT_EQ(differs(R"((%a: tensor<40xi32>) -> tensor<40xi32> {
    %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<i32>):
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %seven = stablehlo.constant dense<7> : tensor<i32>
      %least = stablehlo.and %x, %seven : tensor<i32>
      %p = stablehlo.compare LT, %x, %zero
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r = "stablehlo.if"(%p) ({
        %n = stablehlo.negate %x : tensor<i32>
        stablehlo.return %n : tensor<i32>
      }, {
        %w:2 = "stablehlo.while"(%least, %x) ({
        ^bb0(%i: tensor<i32>, %v: tensor<i32>):
          %again = stablehlo.compare GT, %i, %zero
              : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %again : tensor<i1>
        }, {
        ^bb0(%i: tensor<i32>, %v: tensor<i32>):
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.subtract %i, %one : tensor<i32>
          %sum = stablehlo.add %v, %i : tensor<i32>
          stablehlo.return %next, %sum : tensor<i32>, tensor<i32>
        }) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
        stablehlo.return %w#1 : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<40xi32>) -> tensor<40xi32>
    return %0 : tensor<40xi32>
  })"),
            "");
}

TEST(Region, CaseInReduce) {
  EXPECT_EQ(differs(R"((%a: tensor<6x9xi32>) -> tensor<6xi32> {
    %init = stablehlo.constant dense<1> : tensor<i32>
    %0 = "stablehlo.reduce"(%a, %init) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %less = stablehlo.compare LT, %x, %y
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %i = stablehlo.convert %less : (tensor<i1>) -> tensor<i32>
      %r = "stablehlo.case"(%i) ({
        stablehlo.return %x : tensor<i32>
      }, {
        stablehlo.return %y : tensor<i32>
      }, {
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) {dimensions = array<i64: 1>}
        : (tensor<6x9xi32>, tensor<i32>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  })"),
            "");
}

TEST(Region, SelectAndScatter) {
  for (const char *direction : {"GE", "LT"}) {
    std::string text = R"((%a: tensor<2x9x10x3xf32>,
        %s: tensor<2x5x4x3xf32>) -> tensor<2x9x10x3xf32> {
      %init = stablehlo.constant dense<0.5> : tensor<f32>
      %0 = "stablehlo.select_and_scatter"(%a, %s, %init) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %c = stablehlo.compare DIRECTION, %x, %y
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }, {
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %c = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) {window_dimensions = array<i64: 1, 3, 3, 1>,
          window_strides = array<i64: 1, 2, 3, 1>,
          padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}
          : (tensor<2x9x10x3xf32>, tensor<2x5x4x3xf32>, tensor<f32>)
          -> tensor<2x9x10x3xf32>
      return %0 : tensor<2x9x10x3xf32>
    })";
    text.replace(text.find("DIRECTION"), 9, direction);
    EXPECT_EQ(differs(text), "") << direction;
  }
}

TEST(Region, TablesInRegions) {
  EXPECT_EQ(differs(R"((%a: tensor<30xi32>) -> tensor<30xi32> {
    %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<i32>):
      %table = stablehlo.constant dense<[5, 3, 8, 1]> : tensor<4xi32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %i = stablehlo.and %x, %three : tensor<i32>
      %v = "stablehlo.dynamic_slice"(%table, %i)
          {slice_sizes = array<i64: 1>} : (tensor<4xi32>, tensor<i32>)
          -> tensor<1xi32>
      %r = stablehlo.reshape %v : (tensor<1xi32>) -> tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<30xi32>) -> tensor<30xi32>
    return %0 : tensor<30xi32>
  })"),
            "");
}

TEST(Bits, OfElementsNarrowerThanAByte) {
  for (auto [from, to] :
       {std::pair<const char *, const char *>{"7xi8", "7x2xi4"},
        {"7x2xui4", "7xi8"},
        {"7xi4", "7xui4"},
        {"5xi16", "5x8xi2"},
        {"5x8xui4", "5xf32"},
        {"5xf32", "5x8xi4"}}) {
    std::string a = std::string("tensor<") + from + ">",
                b = std::string("tensor<") + to + ">";
    EXPECT_EQ(differs("(%a: " + a + ") -> " + b +
                          " {\n  %0 = stablehlo.bitcast_convert %a : (" + a +
                          ") -> " + b + "\n  return %0 : " + b + "\n}",
                      {0, 0}),
              "")
        << from << to;
  }
}
