//===- OrderTest.cpp - sorts and places of min and max
//------------------------===//
//
// Covers: backend/cpu/emit ArgMinMax FloatOrder SortKernel SortOrder
// Covers: interpreter OrderKeys TotalOrder

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

/// \p text with every $KEY replaced by its value.
static std::string
filled(std::string text,
       std::initializer_list<std::pair<const char *, std::string>> values) {
  for (const auto &[key, value] : values)
    for (size_t at; (at = text.find(key)) != std::string::npos;)
      text.replace(at, std::string(key).size(), value);
  return text;
}

/// %x from the random %a: few different numbers, zeros of both signs and, with
/// \p hasNan, NaN.
static std::string specials(const std::string &shape, const std::string &type,
                            bool hasNan) {
  return filled(R"(
    %four = stablehlo.constant dense<4.0> : tensor<$S$T>
    %edge = stablehlo.constant dense<$E> : tensor<$S$T>
    %nan = stablehlo.constant dense<0x$N> : tensor<$S$T>
    %scaled = stablehlo.multiply %a, %four : tensor<$S$T>
    %round = stablehlo.round_nearest_even %scaled : tensor<$S$T>
    %isNan = stablehlo.compare GT, %a, %edge
      : (tensor<$S$T>, tensor<$S$T>) -> tensor<$Sxi1>
    %x = stablehlo.select %isNan, %nan, %round : tensor<$Sxi1>, tensor<$S$T>)",
                {{"$Sxi1", shape + "xi1"},
                 {"$S", shape + "x"},
                 {"$T", type},
                 {"$E", hasNan ? "0.5" : "100.0"},
                 {"$N", type == "f32"   ? "7FC00000"
                        : type == "f64" ? "7FF8000000000000"
                        : type == "f16" ? "7E00"
                                        : "7FC0"}});
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Sorts %x with the indices of its elements. The sign of zeros is in the
/// reciprocals.
static std::string sorted(const std::string &shape, int dim,
                          const std::string &type, const std::string &prologue,
                          const std::string &comparator) {
  const bool isFloat = type[0] != 'i' && type[0] != 'u';
  return filled(
      R"((%a: tensor<$S$T>) -> (tensor<$S$T>, tensor<$Si32>) {$P
    %i = stablehlo.iota dim = $D : tensor<$Si32>
    %0:2 = "stablehlo.sort"(%x, %i) ({
    ^bb0(%p: tensor<$T>, %q: tensor<$T>, %j: tensor<i32>, %k: tensor<i32>):
      $C
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }) {dimension = $D : i64, is_stable = true}
      : (tensor<$S$T>, tensor<$Si32>) -> (tensor<$S$T>, tensor<$Si32>)
    $R
    return %r, %0#1 : tensor<$S$T>, tensor<$Si32>
  })",
      {{"$P", prologue},
       {"$C", comparator},
       {"$R", isFloat ? "%one = stablehlo.constant dense<1.0> : tensor<$S$T>\n"
                        "%r = stablehlo.divide %one, %0#0 : tensor<$S$T>"
                      : "%r = stablehlo.add %0#0, %0#0 : tensor<$S$T>"},
       {"$S", shape + "x"},
       {"$T", type},
       {"$D", std::to_string(dim)}});
}

static std::string comparing(const char *direction, const char *type,
                             const char *order, bool isSwapped = false) {
  std::string t = type, operands = isSwapped ? "%q, %p" : "%p, %q";
  return std::string("%c = stablehlo.compare ") + direction + ", " + operands +
         ", " + order + " : (tensor<" + t + ">, tensor<" + t +
         ">) -> tensor<i1>";
}

TEST(Sort, OfFloatsOfEveryLength) {
  for (const char *shape : {"3x1", "3x2", "3x37", "2x255", "2x256", "2x777"})
    for (const char *type : {"f32", "bf16"})
      for (const char *order : {"FLOAT", "TOTALORDER"})
        for (const char *direction : {"LT", "GT"})
          EXPECT_EQ(differs(sorted(shape, 1, type, specials(shape, type, false),
                                   comparing(direction, type, order))),
                    "")
              << shape << " " << type << " " << order << " " << direction;
}

TEST(Sort, OfNan) {
  for (const char *shape : {"3x37", "2x600"})
    for (const char *type : {"f32", "f64"})
      for (const char *order : {"FLOAT", "TOTALORDER"})
        EXPECT_EQ(differs(sorted(shape, 1, type, specials(shape, type, true),
                                 comparing("LT", type, order))),
                  "")
            << shape << " " << type << " " << order;
}

TEST(Sort, OfIntegersAndWideKeys) {
  for (const char *type : {"i8", "ui8", "i16", "i32", "ui32", "i64", "ui64"})
    for (const char *shape : {"3x40", "2x700"})
      for (bool isSwapped : {false, true})
        EXPECT_EQ(
            differs(sorted(shape, 1, type,
                           std::string("%x = stablehlo.add %a, %a : tensor<") +
                               shape + "x" + type + ">",
                           comparing("LT", type,
                                     type[0] == 'u' ? "UNSIGNED" : "SIGNED",
                                     isSwapped))),
            "")
            << type << " " << shape << " " << isSwapped;
  EXPECT_EQ(differs(sorted("2x700", 1, "f64", specials("2x700", "f64", false),
                           comparing("GT", "f64", "FLOAT"))),
            "");
}

TEST(Sort, AlongTheFirstDimensionAndOfALongRow) {
  EXPECT_EQ(differs(sorted("300x5", 0, "f32", specials("300x5", "f32", false),
                           comparing("LT", "f32", "TOTALORDER"))),
            "");
  EXPECT_EQ(differs(sorted("140000", 0, "f32", specials("140000", "f32", true),
                           comparing("LT", "f32", "TOTALORDER"))),
            "");
}

/// JAX's: zeros and NaNs are made one before they are compared.
TEST(Sort, ByANumberComputedFromTheElement) {
  std::string text = R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %bad = stablehlo.constant dense<0x7FC00000> : tensor<f32>)";
  for (const char *side : {"p", "q"})
    text += filled(R"(
      %$0 = stablehlo.compare EQ, %$, %zero, FLOAT
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %$1 = stablehlo.select %$0, %zero, %$ : tensor<i1>, tensor<f32>
      %$2 = stablehlo.compare NE, %$, %$, FLOAT
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %$3 = stablehlo.select %$2, %bad, %$1 : tensor<i1>, tensor<f32>)",
                   {{"$", side}});
  text += R"(
      %c = stablehlo.compare LT, %p3, %q3, TOTALORDER
        : (tensor<f32>, tensor<f32>) -> tensor<i1>)";
  for (const char *shape : {"3x37", "2x600"})
    EXPECT_EQ(
        differs(sorted(shape, 1, "f32", specials(shape, "f32", true), text)),
        "")
        << shape;
}

TEST(Sort, ByMoreThanOneNumber) {
  EXPECT_EQ(differs(sorted("2x600", 1, "f32", specials("2x600", "f32", false),
                           R"(
      %e = stablehlo.compare EQ, %p, %q
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %l = stablehlo.compare LT, %p, %q
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %g = stablehlo.compare GT, %j, %k
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %b = stablehlo.and %e, %g : tensor<i1>
      %c = stablehlo.or %l, %b : tensor<i1>)")),
            "");
}

//===----------------------------------------------------------------------===//
// Places of min and max
//===----------------------------------------------------------------------===//

/// Reduces %x and the indices along dimension \p dim by \p region, of the
/// numbers %p, %q and the indices %j, %k, to %v and %w.
static std::string reduced(const std::string &shape,
                           const std::string &resultShape, int dim,
                           const std::string &type, const std::string &prologue,
                           const std::string &initial,
                           const std::string &region) {
  const bool isFloat = type[0] != 'i';
  return filled(
      R"((%a: tensor<$S$T>) -> (tensor<$O$T>, tensor<$Oi32>) {$P
    %i = stablehlo.iota dim = $D : tensor<$Si32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    %least = stablehlo.constant dense<$I> : tensor<$T>
    %0:2 = stablehlo.reduce(%x init: %least), (%i init: %first)
      across dimensions = [$D]
      : (tensor<$S$T>, tensor<$Si32>, tensor<$T>, tensor<i32>)
      -> (tensor<$O$T>, tensor<$Oi32>)
      reducer(%p: tensor<$T>, %q: tensor<$T>) (%j: tensor<i32>, %k: tensor<i32>)
      {$C
        stablehlo.return %v, %w : tensor<$T>, tensor<i32>
      }
    $R
    return %r, %0#1 : tensor<$O$T>, tensor<$Oi32>
  })",
      {{"$P", prologue},
       {"$C", region},
       {"$R", isFloat ? "%one = stablehlo.constant dense<1.0> : tensor<$O$T>\n"
                        "%r = stablehlo.divide %one, %0#0 : tensor<$O$T>"
                      : "%r = stablehlo.add %0#0, %0#0 : tensor<$O$T>"},
       {"$I", initial},
       {"$S", shape + "x"},
       {"$O", resultShape.empty() ? "" : resultShape + "x"},
       {"$T", type},
       {"$D", std::to_string(dim)}});
}

/// The many ways to write it: without a word on equal numbers, as JAX does, and
/// by the lesser index.
static const std::initializer_list<const char *> ways = {R"(
        %c = stablehlo.compare $GT, %p, %q
          : (tensor<$T>, tensor<$T>) -> tensor<i1>
        %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<$T>
        %w = stablehlo.select %c, %j, %k : tensor<i1>, tensor<i32>)",
                                                         R"(
        %g = stablehlo.compare $GT, %p, %q
          : (tensor<$T>, tensor<$T>) -> tensor<i1>
        %n = stablehlo.compare NE, %p, %p
          : (tensor<$T>, tensor<$T>) -> tensor<i1>
        %c = stablehlo.or %g, %n : tensor<i1>
        %e = stablehlo.compare EQ, %p, %q
          : (tensor<$T>, tensor<$T>) -> tensor<i1>
        %l = stablehlo.compare LT, %j, %k
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %b = stablehlo.and %e, %l : tensor<i1>
        %d = stablehlo.or %c, %b : tensor<i1>
        %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<$T>
        %w = stablehlo.select %d, %j, %k : tensor<i1>, tensor<i32>)",
                                                         R"(
        %c = stablehlo.compare $GE, %p, %q
          : (tensor<$T>, tensor<$T>) -> tensor<i1>
        %e = stablehlo.compare EQ, %p, %q
          : (tensor<$T>, tensor<$T>) -> tensor<i1>
        %m = stablehlo.minimum %j, %k : tensor<i32>
        %s = stablehlo.select %c, %j, %k : tensor<i1>, tensor<i32>
        %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<$T>
        %w = stablehlo.select %e, %m, %s : tensor<i1>, tensor<i32>)"};

/// Without a rule for NaN the result depends on the order of the pairs, which
/// nobody promises.
static bool hasRuleForNan(const std::string &way) {
  return way.find("NE, %p, %p") != std::string::npos;
}

static std::string written(const char *way, bool isGreatest,
                           const std::string &type) {
  return filled(way, {{"$GT", isGreatest ? "GT" : "LT"},
                      {"$GE", isGreatest ? "GE" : "LE"},
                      {"$T", type}});
}

TEST(ArgMinMax, OfFloats) {
  Sweep sweep;
  for (const char *way : ways)
    for (bool isGreatest : {true, false})
      for (bool hasNan : {false, hasRuleForNan(way)})
        for (const char *type : {"f32", "f64", "bf16"})
          for (int length : {1, 2, 7, 16, 100}) {
            if (!sweep.takesNext())
              continue;
            std::string shape = "9x" + std::to_string(length);
            EXPECT_EQ(differs(reduced(shape, "9", 1, type,
                                      specials(shape, type, hasNan),
                                      isGreatest ? "-100.0" : "100.0",
                                      written(way, isGreatest, type))),
                      "")
                << way << isGreatest << hasNan << " " << type << " " << length;
          }
}

TEST(ArgMinMax, OfIntegersAndAlongOtherDimensions) {
  for (const char *way : ways)
    for (bool isGreatest : {true, false}) {
      EXPECT_EQ(differs(reduced("5x33", "5", 1, "i32",
                                "\n%x = stablehlo.negate %a : tensor<5x33xi32>",
                                "0", written(way, isGreatest, "i32"))),
                "");
      EXPECT_EQ(differs(reduced("5x33x4", "5x4", 1, "f32",
                                specials("5x33x4", "f32", hasRuleForNan(way)),
                                "0.0", written(way, isGreatest, "f32"))),
                "");
      EXPECT_EQ(differs(reduced("70", "", 0, "f32",
                                specials("70", "f32", hasRuleForNan(way)),
                                "0.0", written(way, isGreatest, "f32"))),
                "");
    }
}
