//===- ElementwiseTest.cpp - elementwise operations, all types ------------===//
//
// Covers: backend/cpu/codegen ExpandMinMax
// Covers: backend/cpu/emit Elementwise ElementwiseFloat ElementwiseInteger

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ProgramText.h"

#include <gtest/gtest.h>

using namespace sinter::test;

namespace {

Tolerance elementwiseTolerance(const std::string &type) {
  if (type == "f16")
    return {2e-3, 2e-3};
  if (type == "bf16")
    return {1.6e-2, 1.6e-2};
  if (type == "f64")
    return {1e-12, 1e-12};
  return {};
}

/// stablehlo.<op> on one or two operands of \p type.
std::string differsFor(const std::string &op, const std::string &type,
                       int operands) {
  return differs(functionOf(op, typeOf({5, 7}, type), operands),
                 elementwiseTolerance(type));
}

const char *floats[] = {"f16", "bf16", "f32", "f64"};
const char *integers[] = {"i8", "i16", "i32", "i64", "ui8", "ui32", "ui64"};

} // namespace

TEST(Elementwise, FunctionsOfOneFloat) {
  for (const char *type : floats)
    for (const char *op :
         {"abs", "cbrt", "ceil", "cosine", "exponential",
          "exponential_minus_one", "floor", "log", "log_plus_one", "logistic",
          "negate", "round_nearest_afz", "round_nearest_even", "rsqrt", "sign",
          "sine", "sqrt", "tan", "tanh"})
      EXPECT_EQ(differsFor(op, type, 1), "") << op << " of " << type;
}

TEST(Elementwise, FunctionsOfTwoFloats) {
  for (const char *type : floats)
    for (const char *op : {"add", "atan2", "divide", "maximum", "minimum",
                           "multiply", "power", "remainder", "subtract"})
      EXPECT_EQ(differsFor(op, type, 2), "") << op << " of " << type;
}

TEST(Elementwise, MaximumAndMinimumOrderZerosBySign) {
  const std::pair<const char *, const char *> types[] = {
      {"f8E4M3FN", "i8"}, {"f16", "i16"}, {"bf16", "i16"},
      {"f32", "i32"},     {"f64", "i64"},
  };
  const char *results[] = {
      "maximum %x, %y : F",         "minimum %x, %y : F",
      "maximum %x, %zero : F",      "minimum %x, %zero : F",
      "maximum %minus, %x : F",     "minimum %minus, %x : F",
      "maximum %x, %a : F",         "minimum %a, %x : F",
      "clamp %x, %y, %a : F",       "clamp %a, %x, %y : F",
      "clamp %minus, %x, %zero : F"};
  for (auto [type, bits] : types)
    for (const char *result : results) {
      std::string floats = "tensor<5x7x" + std::string(type) + ">";
      std::string integers = "tensor<5x7x" + std::string(bits) + ">";
      std::string operation = result;
      operation.replace(operation.find('F'), 1, floats);
      // Products with zero are zeros of either sign.
      EXPECT_EQ(
          differs("(%a: " + floats + ", %b: " + floats + ") -> " + integers +
                  " {\n"
                  "  %zero = stablehlo.constant dense<0.0> : " +
                  floats + "\n  %minus = stablehlo.constant dense<-0.0> : " +
                  floats + "\n  %x = stablehlo.multiply %a, %zero : " + floats +
                  "\n  %y = stablehlo.multiply %b, %zero : " + floats +
                  "\n  %m = stablehlo." + operation +
                  "\n  %r = stablehlo.bitcast_convert %m : (" + floats +
                  ") -> " + integers + "\n  return %r : " + integers + "\n}"),
          "")
          << operation;
    }
}

TEST(Elementwise, MinMaxOfMagnitudes) {
  for (const std::string type : floats)
    for (const char *extreme : {"maximum", "minimum"})
      for (const char *number : {"0.0", "-0.0", "1.0"}) {
        const std::string tensor = "tensor<9x" + type + ">";
        EXPECT_EQ(
            differs("(%a: " + tensor + ") -> " + tensor +
                    " {\n  %b = stablehlo.constant dense<" + number +
                    "> : " + tensor + "\n  %x = stablehlo.abs %a : " + tensor +
                    "\n  %m = stablehlo." + extreme + " %x, %b : " + tensor +
                    "\n  return %m : " + tensor + "\n}"),
            "")
            << extreme << " of " << type << " and " << number;
      }
}

TEST(Elementwise, FunctionsOfIntegers) {
  for (const char *type : integers) {
    if (type[0] == 'i') {
      EXPECT_EQ(differsFor("abs", type, 1), "") << type;
    }
    for (const char *op : {"count_leading_zeros", "not", "popcnt"})
      EXPECT_EQ(differsFor(op, type, 1), "") << op << " of " << type;
    for (const char *op :
         {"add", "and", "divide", "maximum", "minimum", "multiply", "or",
          "power", "remainder", "shift_left", "shift_right_arithmetic",
          "shift_right_logical", "subtract", "xor"})
      EXPECT_EQ(differsFor(op, type, 2), "") << op << " of " << type;
  }
}

TEST(Elementwise, FunctionsOfBooleans) {
  for (const char *op :
       {"add", "and", "maximum", "minimum", "multiply", "or", "xor"})
    EXPECT_EQ(differsFor(op, "i1", 2), "") << op;
  EXPECT_EQ(differsFor("not", "i1", 1), "");
}

TEST(Elementwise, FunctionsOfComplexNumbers) {
  for (const char *op : {"exponential", "log", "negate", "cosine", "sine",
                         "sqrt", "tanh", "logistic"})
    EXPECT_EQ(differsFor(op, "complex<f32>", 1), "") << op;
  for (const char *op : {"add", "subtract", "multiply", "divide"})
    EXPECT_EQ(differsFor(op, "complex<f32>", 2), "") << op;
}

/// What counts along a dimension of size 1 is a zero that the code's builder
/// sees.
TEST(Elementwise, AnglesOfConstantZeros) {
  EXPECT_EQ(differs("() -> (tensor<1x2xcomplex<f64>>, tensor<1x19xf32>, "
                    "tensor<1x19xf64>) {\n"
                    "  %0 = stablehlo.iota dim = 0 : tensor<1x2xcomplex<f64>>\n"
                    "  %1 = stablehlo.log %0 : tensor<1x2xcomplex<f64>>\n"
                    "  %2 = stablehlo.iota dim = 0 : tensor<1x19xf32>\n"
                    "  %3 = stablehlo.negate %2 : tensor<1x19xf32>\n"
                    "  %4 = stablehlo.atan2 %2, %3 : tensor<1x19xf32>\n"
                    "  %5 = stablehlo.iota dim = 0 : tensor<1x19xf64>\n"
                    "  %6 = stablehlo.atan2 %5, %5 : tensor<1x19xf64>\n"
                    "  return %1, %4, %6 : tensor<1x2xcomplex<f64>>, "
                    "tensor<1x19xf32>, tensor<1x19xf64>\n}"),
            "");
}

TEST(Elementwise, ComparesComplexNumbersAsPairs) {
  for (const char *direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
    EXPECT_EQ(
        differs("(%a: tensor<9xcomplex<f32>>, %b: tensor<9xcomplex<f32>>) -> "
                "(tensor<9xi1>, tensor<9xi1>) { %0 = stablehlo.compare " +
                std::string(direction) +
                ", %a, %b : (tensor<9xcomplex<f32>>, tensor<9xcomplex<f32>>) "
                "-> tensor<9xi1> %1 = stablehlo.compare " +
                direction +
                ", %a, %a : (tensor<9xcomplex<f32>>, tensor<9xcomplex<f32>>) "
                "-> tensor<9xi1> return %0, %1 : tensor<9xi1>, tensor<9xi1> }"),
        "")
        << direction;
}

/// In vectors, as what follows a product in its kernel is computed.
TEST(Elementwise, FunctionsOfF64AfterAProduct) {
  for (const char *op : {"abs", "floor", "sqrt", "exponential", "tanh"})
    EXPECT_EQ(differs("(%a: tensor<5x7xf64>, %b: tensor<7x6xf64>) -> "
                      "tensor<5x6xf64> { %0 = stablehlo.dot %a, %b : "
                      "(tensor<5x7xf64>, tensor<7x6xf64>) -> tensor<5x6xf64> "
                      "%1 = stablehlo.abs %0 : tensor<5x6xf64> "
                      "%2 = stablehlo." +
                      std::string(op) +
                      " %1 : tensor<5x6xf64> return %2 : tensor<5x6xf64> }"),
              "")
        << op;
}

TEST(Elementwise, ConvertsBetweenAllTypes) {
  std::vector<std::string> types = {"i1"};
  types.insert(types.end(), std::begin(floats), std::end(floats));
  types.insert(types.end(), std::begin(integers), std::end(integers));
  for (const std::string &from : types) {
    // One program for all, to save time.
    std::string source = "tensor<9x" + from + ">", body, results, values;
    for (size_t i = 0; i < types.size(); ++i) {
      std::string target = "tensor<9x" + types[i] + ">";
      std::string name = "%r" + std::to_string(i);
      body += "  " + name + " = stablehlo.convert %a : (" + source + ") -> " +
              target + "\n";
      results += (i ? ", " : "") + target;
      values += (i ? ", " : "") + name;
    }
    EXPECT_EQ(differs("(%a: " + source + ") -> (" + results + ") {\n" + body +
                      "  return " + values + " : " + results + "\n}"),
              "")
        << "from " << from;
  }
}

TEST(Elementwise, ComparesAndSelects) {
  for (const char *type : {"f32", "f16", "i32", "ui8", "i1", "f64"})
    for (const char *direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
      std::string t = std::string("tensor<33x") + type + ">";
      EXPECT_EQ(differs("(%a: " + t + ", %b: " + t + ") -> " + t +
                        " {\n %0 = stablehlo.compare " + direction +
                        ", %a, %b : (" + t + ", " + t +
                        ") -> tensor<33xi1>\n"
                        " %1 = stablehlo.select %0, %a, %b : tensor<33xi1>, " +
                        t + "\n return %1 : " + t + "\n}"),
                "")
          << direction << " of " << type;
    }
}

TEST(Elementwise, ClampsByScalars) {
  EXPECT_EQ(differs(R"((%a: tensor<4x9xf32>, %lo: tensor<f32>)
      -> tensor<4x9xf32> {
    %hi = stablehlo.constant dense<5.0e-01> : tensor<f32>
    %0 = stablehlo.clamp %lo, %a, %hi
        : (tensor<f32>, tensor<4x9xf32>, tensor<f32>) -> tensor<4x9xf32>
    return %0 : tensor<4x9xf32>
  })"),
            "");
}

TEST(Elementwise, ReducesPrecision) {
  EXPECT_EQ(differs(R"((%a: tensor<99xf32>) -> tensor<99xf32> {
    %0 = stablehlo.reduce_precision %a, format = e5m2 : tensor<99xf32>
    %1 = stablehlo.reduce_precision %0, format = e8m7 : tensor<99xf32>
    return %1 : tensor<99xf32>
  })"),
            "");
}
