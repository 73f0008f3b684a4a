//===- UnsignedOrderTest.cpp - signless integers compared as unsigned -----===//
//
// Covers: backend/cpu/emit ArgMinMax FloatOrder SortKernel SortOrder

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Every order of two tensors of \p element, of both signs.
TEST(UnsignedOrder, OfEveryWidth) {
  for (const char *element : {"i2", "i4", "i8", "i16", "i32", "i64"})
    for (const char *direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      const std::string type = std::string("tensor<37x") + element + ">";
      const std::string body =
          "(%x: " + type + ", %y: " + type +
          ") -> tensor<37xi1> {\n%r = stablehlo.compare " + direction +
          ", %x, %y, UNSIGNED : (" + type + ", " + type +
          ") -> tensor<37xi1>\nreturn %r : tensor<37xi1>\n}";
      EXPECT_EQ(differs(body, {0, 0}), "") << body;
      EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
    }
}

/// A comparator's order: short rows, and those that are sorted by radix.
TEST(UnsignedOrder, OfSorts) {
  for (const char *element : {"i8", "i32", "i64"})
    for (const char *direction : {"LT", "GT", "GE"})
      for (const char *size : {"5x9", "2x900"}) {
        const std::string scalar = std::string("tensor<") + element + ">",
                          type = std::string("tensor<") + size + "x" + element +
                                 ">";
        const std::string body =
            "(%x: " + type + ") -> " + type +
            " {\n%r = \"stablehlo.sort\"(%x) ({\n^bb0(%a: " + scalar +
            ", %b: " + scalar + "):\n%c = stablehlo.compare " + direction +
            ", %a, %b, UNSIGNED : (" + scalar + ", " + scalar +
            ") -> tensor<i1>\nstablehlo.return %c : tensor<i1>\n}) {dimension "
            "= 1 : i64, is_stable = true} : (" +
            type + ") -> " + type + "\nreturn %r : " + type + "\n}";
        EXPECT_EQ(differs(body, {0, 0}), "") << body;
      }
}

/// What looks for the greatest number goes by the order of the type.
TEST(UnsignedOrder, OfTheGreatestAndItsPlace) {
  EXPECT_EQ(differs(R"((%x: tensor<4x9xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %n = stablehlo.constant dense<0> : tensor<i32>
    %m = stablehlo.constant dense<-1> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<4x9xi32>
    %0:2 = "stablehlo.reduce"(%x, %i, %n, %m) ({
    ^bb0(%a: tensor<i32>, %p: tensor<i32>, %b: tensor<i32>, %q: tensor<i32>):
      %c = stablehlo.compare GE, %a, %b, UNSIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<i32>
      %w = stablehlo.select %c, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<i32>, tensor<i32>
    }) {dimensions = array<i64: 1>}
      : (tensor<4x9xi32>, tensor<4x9xi32>, tensor<i32>, tensor<i32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xi32>
  })",
                    {0, 0}),
            "");
}

} // namespace
