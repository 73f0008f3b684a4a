//===- SortFrontTest.cpp - the first elements of sorted rows --------------===//
//
// Covers: backend/cpu/emit SortKernel
// Covers: backend/cpu/legalize MarkFronts

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

namespace {

struct Front {
  int64_t rows, length, front;
  int dim = 1;
  /// Of what the rows are: as drawn, or in either order.
  enum { Random, Ascending, Descending } data = Random;
};

/// The first values and places of sorted rows of few different numbers, with
/// zeros of both signs and, with \p hasNan, NaN.
std::string frontOf(const Front &each, const std::string &type,
                    const std::string &compare, bool hasNan = false) {
  auto shape = [&](int64_t length, const std::string &element) {
    return "tensor<" +
           (each.dim == 1
                ? std::to_string(each.rows) + "x" + std::to_string(length)
                : std::to_string(length) + "x" + std::to_string(each.rows)) +
           "x" + element + ">";
  };
  const std::string all = shape(each.length, type),
                    places = shape(each.length, "i32"),
                    front = shape(each.front, type),
                    frontPlaces = shape(each.front, "i32"),
                    dim = std::to_string(each.dim),
                    ranges = each.dim == 1
                                 ? "[0:" + std::to_string(each.rows) +
                                       ", 0:" + std::to_string(each.front) + "]"
                                 : "[0:" + std::to_string(each.front) +
                                       ", 0:" + std::to_string(each.rows) + "]";
  const bool isFloat = type[0] == 'f' || type[0] == 'b';
  std::string text = "(%a: " + all + ") -> (" + front + ", " + frontPlaces +
                     ") {\n    %i = stablehlo.iota dim = " + dim + " : " +
                     places + "\n";
  if (each.data != Front::Random)
    text += std::string("    %y = stablehlo.") +
            (each.data == Front::Ascending ? "convert" : "negate") + " %" +
            (each.data == Front::Ascending ? "i : (" + places + ") -> " + all
                                           : "v : " + all) +
            "\n";
  if (each.data == Front::Descending)
    text.insert(text.rfind("    %y"), "    %v = stablehlo.convert %i : (" +
                                          places + ") -> " + all + "\n");
  if (each.data == Front::Random && isFloat)
    text +=
        "    %four = stablehlo.constant dense<4.0> : " + all +
        "\n    %edge = stablehlo.constant dense<" + (hasNan ? "0.9" : "100.0") +
        "> : " + all + "\n    %m = stablehlo.multiply %a, %four : " + all +
        "\n    %r = stablehlo.round_nearest_even %m : " + all +
        "\n    %l = stablehlo.compare GT, %a, %edge : (" + all + ", " + all +
        ") -> " + shape(each.length, "i1") +
        "\n    %n = stablehlo.subtract %edge, %a : " + all +
        "\n    %s = stablehlo.sqrt %n : " + all +
        "\n    %y = stablehlo.select %l, %s, %r : " + shape(each.length, "i1") +
        ", " + all + "\n";
  if (each.data == Front::Random && !isFloat)
    text += "    %y = stablehlo.add %a, %a : " + all + "\n";
  return text + R"(    %o:2 = "stablehlo.sort"(%y, %i) ({
    ^bb0(%p: tensor<)" +
         type + ">, %q: tensor<" + type +
         R"(>, %j: tensor<i32>, %k: tensor<i32>):
      %c = stablehlo.compare )" +
         compare + " : (tensor<" + type + ">, tensor<" + type +
         R"(>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) {dimension = )" +
         dim + " : i64, is_stable = true} : (" + all + ", " + places +
         ") -> (" + all + ", " + places + ")\n    %f = stablehlo.slice %o#0 " +
         ranges + " : (" + all + ") -> " + front +
         "\n    %g = stablehlo.slice %o#1 " + ranges + " : (" + places +
         ") -> " + frontPlaces + "\n    return %f, %g : " + front + ", " +
         frontPlaces + "\n  }";
}

const Front fronts[] = {{3, 300, 1},    {2, 1000, 5},    {2, 1000, 32},
                        {2, 777, 33},   {3, 3000, 100},  {2, 260, 64},
                        {5, 600, 7, 0}, {5, 600, 40, 0}, {2, 100, 40},
                        {1, 70000, 50}};

} // namespace

TEST(SortFront, OfEveryTypeAndLength) {
  for (const Front &each : fronts) {
    auto check = [&](const char *type, const char *compare,
                     bool hasNan = false) {
      EXPECT_EQ(differs(frontOf(each, type, compare, hasNan)), "")
          << each.front << " of " << each.length << " " << type << " "
          << compare << " " << hasNan;
    };
    check("f32", "GT, %p, %q, TOTALORDER");
    check("f32", "GT, %p, %q, TOTALORDER", true);
    check("f32", "LT, %p, %q, FLOAT");
    check("f32", "LT, %p, %q, FLOAT", true);
    check("bf16", "GT, %p, %q, TOTALORDER");
    check("f16", "LT, %q, %p, FLOAT");
    check("f64", "GT, %p, %q, TOTALORDER");
    check("i32", "GT, %p, %q, SIGNED");
    check("ui8", "LT, %p, %q, UNSIGNED");
    check("i64", "LT, %p, %q, SIGNED");
  }
}

TEST(SortFront, OfRowsInOrder) {
  for (auto data : {Front::Ascending, Front::Descending})
    for (int64_t front : {1, 10, 50})
      EXPECT_EQ(differs(frontOf({2, 5000, front, 1, data}, "f32",
                                "GT, %p, %q, TOTALORDER")),
                "")
          << front << " " << data;
}

TEST(SortFront, OfNarrowerVectors) {
  for (const sinter::cpu::Target &target : lesserTargets())
    EXPECT_EQ(differs(frontOf({3, 3000, 100}, "f32", "GT, %p, %q, TOTALORDER"),
                      {}, nullptr, target),
              "");
}
