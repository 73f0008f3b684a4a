// What the regions of sorts and reductions are taken for, and what not.
//
// Covers: graph/stablehlo Combination Comparators

#include "graph/stablehlo/Comparators.h"

#include "graph/Model.h"
#include "graph/stablehlo/Combination.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using sinter::stablehlo::ArgReduction;

namespace {

template <typename Op> struct Parsed {
  std::shared_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module;
  Op op;
  explicit Parsed(const std::string &text)
      : module(parseSourceString<ModuleOp>(text, context.get())) {
    EXPECT_TRUE(module) << text;
    if (module)
      module->walk([&](Op each) { op = each; });
  }
};

/// A reduction of x (4x5xf32) and \p places along dimension 1.
std::string reduction(
    const std::string &body, const std::string &worst = "0xFF800000",
    const std::string &none = "0",
    const std::string &places = "stablehlo.iota dim = 1 : tensor<4x5xi32>") {
  return R"(func.func @main(%x: tensor<4x5xf32>, %y: tensor<4x5xi32>)
      -> tensor<4xi32> {
    %w = stablehlo.constant dense<)" +
         worst + R"(> : tensor<f32>
    %n = stablehlo.constant dense<)" +
         none + R"(> : tensor<i32>
    %p = )" +
         places + R"(
    %r:2 = "stablehlo.reduce"(%x, %p, %w, %n) ({
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
      )" +
         body +
         R"(
      %v = stablehlo.select %k, %a, %b : tensor<i1>, tensor<f32>
      %q = stablehlo.select %k, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %q : tensor<f32>, tensor<i32>
    }) {dimensions = array<i64: 1>} : (tensor<4x5xf32>, tensor<4x5xi32>,
      tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    return %r#1 : tensor<4xi32>
  })";
}

std::string compare(const std::string &name, const std::string &direction,
                    const std::string &operands, const std::string &type) {
  return name + " = stablehlo.compare " + direction + ", " + operands +
         " : (tensor<" + type + ">, tensor<" + type + ">) -> tensor<i1>\n";
}

/// The pair that wins by \p better, of equal elements the one by \p place.
std::string choice(const std::string &better, const std::string &place) {
  return compare("%g", better, "%a, %b", "f32") +
         compare("%e", "EQ", "%a, %b", "f32") +
         compare("%l", place, "%i, %j", "i32") +
         "%t = stablehlo.and %e, %l : tensor<i1>\n"
         "%k = stablehlo.or %g, %t : tensor<i1>\n";
}

std::optional<ArgReduction> found(const std::string &text) {
  Parsed<stablehlo::ReduceOp> parsed(text);
  return stablehlo::argReductionOf(parsed.op);
}

TEST(Comparators, FindTheFirstOrLastOfTheMinMax) {
  struct Case {
    const char *better, *place, *worst;
    bool isGreatest, selectsLast;
  };
  for (const Case &each : {Case{"GT", "LT", "0xFF800000", true, false},
                           Case{"GT", "GT", "0xFF800000", true, true},
                           Case{"LT", "LT", "0x7F800000", false, false},
                           Case{"LT", "GT", "0x7F800000", false, true}}) {
    auto got = found(reduction(choice(each.better, each.place), each.worst));
    ASSERT_TRUE(got) << each.better << each.place;
    EXPECT_EQ(got->dimension, 1);
    EXPECT_EQ(got->isGreatest, each.isGreatest);
    EXPECT_EQ(got->selectsLast, each.selectsLast);
  }
}

TEST(Comparators, FindWhatIsSaidInOtherWords) {
  // What is no number wins, as some frameworks have it.
  EXPECT_TRUE(found(reduction(
      choice("GT", "LT") + compare("%m", "NE", "%a, %a", "f32") +
      "%o = stablehlo.or %k, %m : tensor<i1>\n"
      "%u = stablehlo.select %o, %a, %b : tensor<i1>, tensor<f32>\n")));
}

TEST(Comparators, CountsDoNotWrapRound) {
  auto counts = [](const std::string &value, const std::string &type) {
    Parsed<func::FuncOp> parsed("func.func @main() -> tensor<" + type +
                                "> {\n%r = " + value + "\nreturn %r : tensor<" +
                                type + ">\n}");
    return stablehlo::countsAlong(
        parsed.op.front().getTerminator()->getOperand(0), 0);
  };
  EXPECT_TRUE(counts("stablehlo.iota dim = 0 : tensor<300xi32>", "300xi32"));
  EXPECT_FALSE(counts("stablehlo.iota dim = 0 : tensor<300xi8>", "300xi8"));
  EXPECT_TRUE(
      counts("stablehlo.constant dense<[0, 1, 2]> : tensor<3xi8>", "3xi8"));
  EXPECT_FALSE(
      counts("stablehlo.constant dense<[0, 1, 3]> : tensor<3xi8>", "3xi8"));
  EXPECT_FALSE(counts("stablehlo.iota dim = 0 : tensor<3xf32>", "3xf32"));
}

TEST(Comparators, RefuseWhatIsNoSearch) {
  // Of equal elements whichever comes second.
  EXPECT_FALSE(found(reduction(compare("%k", "GT", "%a, %b", "f32"))));
  // Begins with a number that may win.
  EXPECT_FALSE(found(reduction(choice("GT", "LT"), "0.0")));
  EXPECT_FALSE(found(reduction(choice("LT", "LT"), "0xFF800000")));
  // Begins with a place that comes before the first.
  EXPECT_FALSE(found(reduction(choice("GT", "LT"), "0xFF800000", "-1")));
  // Places that count along the other dimension, or are anything.
  EXPECT_FALSE(found(reduction(choice("GT", "LT"), "0xFF800000", "0",
                               "stablehlo.iota dim = 0 : tensor<4x5xi32>")));
  EXPECT_FALSE(found(reduction(choice("GT", "LT"), "0xFF800000", "0",
                               "stablehlo.add %y, %y : tensor<4x5xi32>")));
  // Does more than compare and choose.
  EXPECT_FALSE(found(reduction(choice("GT", "LT") +
                               "%z = stablehlo.not %k : tensor<i1>\n"
                               "%s = stablehlo.add %a, %b : tensor<f32>\n")));
}

std::optional<stablehlo::SortKey> key(const std::string &comparator) {
  Parsed<stablehlo::SortOp> parsed(
      R"(func.func @main(%x: tensor<5xf32>, %y: tensor<5xi32>)
      -> (tensor<5xf32>, tensor<5xi32>) {
    %r:2 = "stablehlo.sort"(%x, %y) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      )" +
      comparator +
      R"(
      stablehlo.return %k : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<5xf32>, tensor<5xi32>)
      -> (tensor<5xf32>, tensor<5xi32>)
    return %r#0, %r#1 : tensor<5xf32>, tensor<5xi32>
  })");
  return stablehlo::soleSortKey(parsed.op);
}

TEST(Comparators, SortKeys) {
  auto expectKey = [](const std::string &comparator, unsigned input,
                      bool isDescending) {
    auto got = key(comparator);
    ASSERT_TRUE(got) << comparator;
    EXPECT_EQ(got->input, input);
    EXPECT_EQ(got->isDescending, isDescending) << comparator;
  };
  expectKey(compare("%k", "LT", "%a, %b", "f32"), 0, false);
  expectKey(compare("%k", "GT", "%a, %b", "f32"), 0, true);
  expectKey(compare("%k", "GT", "%b, %a", "f32"), 0, false);
  expectKey(compare("%k", "LE", "%i, %j", "i32"), 1, false);
  EXPECT_FALSE(key(compare("%k", "EQ", "%a, %b", "f32")));
  EXPECT_FALSE(key(compare("%k", "LT", "%a, %a", "f32")));
  EXPECT_FALSE(key(compare("%l", "LT", "%a, %b", "f32") +
                   compare("%m", "LT", "%i, %j", "i32") +
                   "%k = stablehlo.or %l, %m : tensor<i1>"));
}

std::string sumOf(const std::string &type, const std::string &op,
                  const std::string &initial) {
  return "func.func @main(%x: tensor<4x" + type + ">) -> tensor<" + type +
         "> {\n%i = stablehlo.constant dense<" + initial + "> : tensor<" +
         type + ">\n%r = stablehlo.reduce(%x init: %i) applies stablehlo." +
         op + " across dimensions = [0] : (tensor<4x" + type + ">, tensor<" +
         type + ">) -> tensor<" + type + ">\nreturn %r : tensor<" + type +
         ">\n}";
}

TEST(Combination, AndWhatChangesNothing) {
  using enum stablehlo::Combination;
  struct Case {
    const char *type, *op, *initial;
    stablehlo::Combination combination;
    bool isNeutral;
  };
  for (const Case &each : {Case{"f32", "add", "0.0", Sum, true},
                           {"f32", "add", "1.0", Sum, false},
                           {"i8", "multiply", "1", Product, true},
                           {"f32", "maximum", "0xFF800000", Max, true},
                           {"f32", "maximum", "0.0", Max, false},
                           {"i8", "maximum", "-128", Max, true},
                           {"ui8", "maximum", "0", Max, true},
                           {"ui8", "minimum", "255", Min, true},
                           {"i32", "minimum", "2147483647", Min, true},
                           {"i1", "or", "false", Any, true},
                           {"i1", "and", "true", All, true},
                           {"i1", "maximum", "false", Any, true}}) {
    Parsed<stablehlo::ReduceOp> parsed(sumOf(each.type, each.op, each.initial));
    Type element = cast<RankedTensorType>(parsed.op.getResult(0).getType())
                       .getElementType();
    auto got = stablehlo::combinationOf(parsed.op.getBody(), element);
    ASSERT_TRUE(got) << each.type << each.op;
    EXPECT_EQ(*got, each.combination) << each.type << each.op;
    EXPECT_EQ(stablehlo::isNeutral(parsed.op.getInitValues()[0], *got),
              each.isNeutral)
        << each.type << each.op << each.initial;
  }
}

} // namespace
