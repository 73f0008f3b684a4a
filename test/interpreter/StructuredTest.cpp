//===- StructuredTest.cpp - reductions, windows, gather, control flow -----===//
//
// Covers: interpreter ControlFlow Reductions SelectAndScatter Sort

#include "interpreter/Evaluate.h"

#include <cmath>

using namespace sinter;
using Doubles = std::vector<double>;

static Evaluated check(const std::string &body, const std::string &type) {
  Evaluated result = evaluateBody(body, type);
  EXPECT_EQ(result.error, "");
  return result;
}

TEST(Reduce, SumsAlongDimensions) {
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %z = stablehlo.constant dense<10> : tensor<i32>
    %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32>)",
                  "tensor<3xi32>")
                .doubles(),
            (Doubles{15, 17, 19}));
}

/// The sum or product of \p count of \p number, by \p region, or by windows.
static double combined(const std::string &element, int count,
                       const std::string &number, const std::string &init,
                       const std::string &region, bool isWindow) {
  std::string scalar = "tensor<" + element + ">",
              many = "tensor<" + std::to_string(count) + "x" + element + ">";
  std::string type = isWindow ? "tensor<1x" + element + ">" : scalar;
  std::string body = "({\n^bb0(%a: " + scalar + ", %b: " + scalar + "):\n" +
                     region + "\nstablehlo.return %c : " + scalar + "\n})";
  std::vector<double> values =
      check("%x = stablehlo.constant dense<" + number + "> : " + many +
                "\n%z = stablehlo.constant dense<" + init + "> : " + scalar +
                "\n%r = \"stablehlo.reduce" + (isWindow ? "_window" : "") +
                "\"(%x, %z) " + body +
                (isWindow ? " {window_dimensions = array<i64: " +
                                std::to_string(count) + ">}"
                          : " {dimensions = array<i64: 0>}") +
                " : (" + many + ", " + scalar + ") -> " + type,
            type)
          .doubles();
  return values.size() == 1 ? values[0] : 0;
}

TEST(Reduce, CarriesSumsAndProductsOfNarrowFloatsInF32) {
  auto addition = [](const std::string &element) {
    return "%c = stablehlo.add %a, %b : tensor<" + element + ">";
  };
  for (bool isWindow : {false, true}) {
    // 100,000 ones are beyond f16, with -60,000 they are not.
    EXPECT_EQ(
        combined("f16", 100000, "1.0", "-60000.0", addition("f16"), isWindow),
        40000);
    EXPECT_EQ(combined("bf16", 4096, "1.0", "0.0", addition("bf16"), isWindow),
              4096);
    EXPECT_EQ(
        combined("f8E4M3FN", 100, "1.0", "0.0", addition("f8E4M3FN"), isWindow),
        96);
    EXPECT_EQ(combined("f16", 20, "0.25", "1.0",
                       "%c = stablehlo.multiply %a, %b : tensor<f16>",
                       isWindow),
              0);
    EXPECT_EQ(combined("f16", 5, "100.0", "0x0010",
                       "%c = stablehlo.multiply %b, %a : tensor<f16>",
                       isWindow),
              9536);
  }
  // Rounded as it is written: 2048 + 1 is 2048.
  EXPECT_EQ(combined("f16", 4096, "1.0", "0.0",
                     "%n = stablehlo.negate %b : tensor<f16>\n%c = "
                     "stablehlo.subtract %a, %n : tensor<f16>",
                     /*isWindow=*/true),
            2048);
}

/// Windows over three elements of f16: each result, of sums that f32 would
/// hold.
static Doubles windowsOver2048And1And1(const std::string &window,
                                       const std::string &low,
                                       const std::string &high,
                                       const std::string &size = "3") {
  std::string type = "tensor<" + size + "xf16>";
  return check("%x = stablehlo.constant dense<[2048.0, 1.0, 1.0]> : "
               "tensor<3xf16>\n%z = stablehlo.constant dense<0.0> : "
               "tensor<f16>\n%r = \"stablehlo.reduce_window\"(%x, %z) "
               "({\n^bb0(%a: tensor<f16>, %b: tensor<f16>):\n%c = "
               "stablehlo.add %b, %a : tensor<f16>\nstablehlo.return %c : "
               "tensor<f16>\n}) {window_dimensions = array<i64: " +
                   window + ">, padding = dense<[[" + low + ", " + high +
                   "]]> : tensor<1x2xi64>} : (tensor<3xf16>, tensor<f16>) -> " +
                   type,
               type)
      .doubles();
}

TEST(ReduceWindow, RunningSumsRoundAsTheyAreWritten) {
  // 2048 + 1 is 2048 in f16, and so is 2048 + 1 + 1 of roundings.
  EXPECT_EQ(windowsOver2048And1And1("3", "2", "0"),
            (Doubles{2048, 2048, 2048}));
  EXPECT_EQ(windowsOver2048And1And1("5", "4", "0"),
            (Doubles{2048, 2048, 2048}));
  EXPECT_EQ(windowsOver2048And1And1("3", "3", "-1"), (Doubles{0, 2048, 2048}));
  // From the end: 1 + 1 + 2048.
  EXPECT_EQ(windowsOver2048And1And1("3", "0", "2"), (Doubles{2050, 2, 1}));
  EXPECT_EQ(windowsOver2048And1And1("3", "-1", "3"), (Doubles{2, 1, 0}));
  // Windows of another form are sums like those of a reduce.
  EXPECT_EQ(windowsOver2048And1And1("3", "1", "1"), (Doubles{2048, 2050, 2}));
  EXPECT_EQ(windowsOver2048And1And1("3", "0", "0", "1"), (Doubles{2050}));
}

TEST(Reduce, EmptyGivesTheInitialValue) {
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<> : tensor<2x0xf32>
    %z = stablehlo.constant dense<7.0> : tensor<f32>
    %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>)",
                  "tensor<2xf32>")
                .doubles(),
            (Doubles{7, 7}));
}

TEST(Reduce, KeepsTheOrderOfABodyThatDoesNotCommute) {
  // "Take the last": an odd number of rows, so that one is left over.
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.reduce(%x init: %z) across dimensions = [0]
      : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
      reducer(%a: tensor<i32>, %b: tensor<i32>) {
        stablehlo.return %b : tensor<i32>
      })",
                  "tensor<2xi32>")
                .doubles(),
            (Doubles{5, 6}));
}

TEST(Reduce, SeveralInputsAndConstantsInTheBody) {
  // The greatest element and where it stands.
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<f32>, tensor<i32>) {
      %x = stablehlo.constant dense<[1., 9., 4., 9.]> : tensor<4xf32>
      %i = stablehlo.iota dim = 0 : tensor<4xi32>
      %lo = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %none = stablehlo.constant dense<-1> : tensor<i32>
      %r:2 = stablehlo.reduce(%x init: %lo), (%i init: %none) across dimensions = [0]
        : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%ai: tensor<i32>, %bi: tensor<i32>) {
          %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
          %w = stablehlo.select %c, %ai, %bi : tensor<i1>, tensor<i32>
          stablehlo.return %v, %w : tensor<f32>, tensor<i32>
        }
      return %r#0, %r#1 : tensor<f32>, tensor<i32>
    })");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{9}));
  EXPECT_EQ(result.doubles(1), (Doubles{1}));
}

TEST(ReduceWindow, PaddingStridesAndDilations) {
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %r = "stablehlo.reduce_window"(%x, %z) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>,
          window_dilations = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}
      : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>)",
                  "tensor<2xi32>")
                .doubles(),
            (Doubles{2, 6}));
}

TEST(Gather, ClampsAndCollapses) {
  // Columns 5 (clamped to 2) and 0 of a matrix.
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[5, 0]> : tensor<2xi64>
    %r = "stablehlo.gather"(%x, %i) {
      dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1],
        start_index_map = [1], index_vector_dim = 1>,
      slice_sizes = array<i64: 2, 1>} : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x2xi32>)",
                  "tensor<2x2xi32>")
                .doubles(),
            (Doubles{3, 1, 6, 4}));
}

TEST(Scatter, AddsRepeatedlyAndSkipsWhatLiesOutside) {
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %i = stablehlo.constant dense<[[1], [1], [7], [-1]]> : tensor<4x1xi64>
    %u = stablehlo.constant dense<[10, 100, 5, 5]> : tensor<4xi32>
    %r = "stablehlo.scatter"(%x, %i, %u) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
      : (tensor<3xi32>, tensor<4x1xi64>, tensor<4xi32>) -> tensor<3xi32>)",
                  "tensor<3xi32>")
                .doubles(),
            (Doubles{1, 112, 3}));
}

TEST(Sort, IsStableAndSortsTogether) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2x3xi32>, tensor<2x3xi32>) {
      %k = stablehlo.constant dense<[[3, 1, 1], [2, 9, 0]]> : tensor<2x3xi32>
      %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
      %r:2 = "stablehlo.sort"(%k, %i) ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
          %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }) {dimension = 1 : i64, is_stable = true}
        : (tensor<2x3xi32>, tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
      return %r#0, %r#1 : tensor<2x3xi32>, tensor<2x3xi32>
    })");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{1, 1, 3, 0, 2, 9}));
  EXPECT_EQ(result.doubles(1), (Doubles{1, 2, 0, 2, 0, 1}));
}

TEST(ControlFlow, WhileIfAndCalls) {
  // 5! by a loop, then a branch that captures a value.
  Evaluated result = evaluateModule(R"(
    func.func private @decrement(%x: tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r = stablehlo.subtract %x, %one : tensor<i32>
      return %r : tensor<i32>
    }
    func.func @main() -> tensor<i32> {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %w:2 = stablehlo.while(%i = %n, %p = %one) : tensor<i32>, tensor<i32>
        cond {
          %c = stablehlo.compare GT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %q = stablehlo.multiply %p, %i : tensor<i32>
          %j = func.call @decrement(%i) : (tensor<i32>) -> tensor<i32>
          stablehlo.return %j, %q : tensor<i32>, tensor<i32>
        }
      %t = stablehlo.constant dense<true> : tensor<i1>
      %r = "stablehlo.if"(%t) ({
          stablehlo.return %w#1 : tensor<i32>
        }, {
          stablehlo.return %n : tensor<i32>
        }) : (tensor<i1>) -> tensor<i32>
      return %r : tensor<i32>
    })");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(), (Doubles{120}));
}

TEST(ControlFlow, EndlessRecursionIsRefused) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> tensor<i32> {
      %r = func.call @main() : () -> tensor<i32>
      return %r : tensor<i32>
    })");
  EXPECT_NE(result.error.find("nest more than 256 deep"), std::string::npos);
}

TEST(Quantized, RoundTripAndArithmetic) {
  EXPECT_EQ(check(R"(
    %x = stablehlo.constant dense<[0.0, 0.26, -0.25, 100.0]> : tensor<4xf32>
    %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:2>>
    %s = stablehlo.add %q, %q : tensor<4x!quant.uniform<i8:f32, 0.5:2>>
    %r = stablehlo.uniform_dequantize %s : (tensor<4x!quant.uniform<i8:f32, 0.5:2>>) -> tensor<4xf32>)",
                  "tensor<4xf32>")
                .doubles(),
            (Doubles{0, 1, 0, 62.5}));
}

TEST(Evaluate, OneOperation) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
           %r = stablehlo.negate %x : tensor<2xf32>
           return %r : tensor<2xf32>
         })",
      context.get());
  mlir::Operation *op = nullptr;
  module->walk([&](mlir::Operation *each) {
    if (each->getName().getStringRef() == "stablehlo.negate")
      op = each;
  });
  ASSERT_TRUE(op && canEvaluate(op));
  Tensor x =
      Tensor::of<float>(ElementType::F32, {2}, std::vector<float>{1, -2});
  auto results = evaluate(op, {x});
  ASSERT_TRUE(results);
  EXPECT_EQ(results->front().at<float>(1), 2);
  auto wrong = evaluate(op, {Tensor(ElementType::F64, {2})});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::Usage);
}
