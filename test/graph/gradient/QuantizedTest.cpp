// Straight-through gradients: of what rounds, and of what computes with
// quantised numbers.

#include "graph/gradient/FiniteDifferences.h"
#include "interpreter/Interpreter.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

/// What the gradients of the program \p body are where its arguments are drawn
/// from \p range; nothing where a test has failed.
static std::vector<Tensor> gradientsOf(const std::string &body, Range range) {
  Model model = parse("func.func @main" + body);
  EXPECT_TRUE(model.module());
  if (!model.module())
    return {};
  std::vector<Tensor> weights, inputs;
  for (Type type : model.entry().getResultTypes())
    weights.push_back(randomOf(type, 70 + weights.size(), {}));
  for (Type type : model.entry().getArgumentTypes())
    inputs.push_back(randomOf(type, 1 + inputs.size(), range));
  EXPECT_TRUE(succeeded(differentiate(model, weights)));
  auto got = interpret(model.entry(), inputs);
  EXPECT_TRUE(got) << (got ? "" : got.error().message());
  return got ? std::move(*got) : std::vector<Tensor>();
}

/// Numbers that would be cut have none; of one scale, and of one a row.
TEST(QuantizedGradient, EndsWhereNumbersAreCut) {
  const struct {
    std::string type;
    std::vector<double> scales;
    std::vector<int> zeroPoints;
    int least;
  } cases[] = {{"!quant.uniform<i8:f32, 0.01:3>", {0.01, 0.01}, {3, 3}, -128},
               {"!quant.uniform<u8:f32, 0.02:0>", {0.02, 0.02}, {0, 0}, 0},
               {"!quant.uniform<i8<-127:127>:f32:0, {0.01,0.02}>",
                {0.01, 0.02},
                {0, 0},
                -127}};
  for (const auto &[type, scales, zeroPoints, least] : cases)
    for (const char *op : {"stablehlo.uniform_quantize", "nn.quantize"}) {
      SCOPED_TRACE(op + type);
      const std::string x = "tensor<2x40xf32>", q = "tensor<2x40x" + type + ">";
      const std::string text = "(%x: " + x + ") -> " + x + " {\n%q = " + op +
                               " %x : (" + x + ") -> " + q +
                               "\n%y = stablehlo.uniform_dequantize %q : (" +
                               q + ") -> " + x + "\nreturn %y : " + x + " }";
      const std::vector<Tensor> got = gradientsOf(text, {-4, 7});
      ASSERT_EQ(got.size(), 1u);
      const Model model = parse("func.func @main" + text);
      Type argument = model.entry().getArgumentTypes()[0];
      const Tensor input = randomOf(argument, 1, {-4, 7}),
                   weight = randomOf(argument, 70, {});
      const int greatest = least + (least == -127 ? 254 : 255);
      int cut = 0;
      for (int64_t i = 0; i < input.size(); ++i) {
        const double element =
            std::nearbyint(input.toDouble(i) / scales[i / 40]) +
            zeroPoints[i / 40];
        const bool isCut = element < least || element > greatest;
        cut += isCut;
        EXPECT_EQ(got[0].toDouble(i), isCut ? 0 : weight.toDouble(i)) << i;
      }
      EXPECT_GT(cut, 10);
      EXPECT_LT(cut, 75);
    }
}

/// An operation on quantised numbers has the gradient of the one on the real
/// numbers that they stand for, of which the result is rounded.
TEST(QuantizedGradient, IsThatOfTheNumbersMeant) {
  const std::string q = "!quant.uniform<i8:f32, 0.02:1>",
                    k = "!quant.uniform<i8:f32, 0.01:0>",
                    sums = "!quant.uniform<i32:f32, 2.0e-4:0>",
                    out = "!quant.uniform<i8:f32, 0.03:-2>";
  const struct {
    std::string x, z, y, result, op;
  } cases[] = {
      {"3x4", "4x2", "3x2", sums,
       "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"},
      {"3x4", "4x2", "3x2", out,
       "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"},
      {"1x2x5x5", "3x2x3x3", "1x3x3x3", sums,
       "stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, "
       "1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, "
       "feature_group_count = 1 : i64}"},
      {"3x4", "3x4", "3x4", out, "stablehlo.add %a, %b"},
      {"3x4", "3x4", "3x4", out, "stablehlo.multiply %a, %b"},
      {"3x4", "1", "4x3", q, "stablehlo.transpose %a, dims = [1, 0]"},
      {"3x4", "1", "2x6", q, "stablehlo.reshape %a"},
      {"3x4", "1", "3x4", out, "nn.relu %a"},
      {"3x4", "1", "3x4", out, "nn.silu %a {alpha = 1.0}"},
  };
  for (const auto &[x, z, y, result, op] : cases) {
    SCOPED_TRACE(op);
    auto of = [](const std::string &shape, const std::string &element) {
      return "tensor<" + shape + "x" + element + ">";
    };
    const std::string fx = of(x, "f32"), fz = of(z, "f32"), fy = of(y, "f32"),
                      qx = of(x, q), qz = of(z, k), qy = of(y, result);
    const bool isOfTwo = op.find("%b") != std::string::npos;
    auto signature = [&](const std::string &a, const std::string &b,
                         const std::string &c) {
      return " : (" + a + (isOfTwo ? ", " + b : "") + ") -> " + c + "\n";
    };
    const std::string start =
        "(%x: " + fx + ", %z: " + fz + ") -> " + fy + " {\n" +
        "%q = stablehlo.uniform_quantize %x : (" + fx + ") -> " + qx + "\n" +
        "%k = stablehlo.uniform_quantize %z : (" + fz + ") -> " + qz + "\n";
    const std::string end = "%y = stablehlo.uniform_dequantize %r : (" + qy +
                            ") -> " + fy + "\nreturn %y : " + fy + " }";
    auto named = [](std::string text, const std::string &a,
                    const std::string &b) {
      for (const auto &[from, to] :
           {std::pair{std::string("%a"), a}, {"%b", b}})
        if (size_t place = text.find(from); place != std::string::npos)
          text.replace(place, 2, to);
      return text;
    };
    const std::vector<Tensor> got = gradientsOf(
        start + "%r = " + named(op, "%q", "%k") + signature(qx, qz, qy) + end,
        {-1.5, 1.5});
    const std::vector<Tensor> want = gradientsOf(
        start + "%a = stablehlo.uniform_dequantize %q : (" + qx + ") -> " + fx +
            "\n%b = stablehlo.uniform_dequantize %k : (" + qz + ") -> " + fz +
            "\n%s = " + op + signature(fx, fz, fy) +
            "%r = stablehlo.uniform_quantize %s : (" + fy + ") -> " + qy +
            "\n" + end,
        {-1.5, 1.5});
    ASSERT_EQ(got.size(), 2u);
    ASSERT_EQ(want.size(), 2u);
    double norm = 0;
    for (int k : {0, 1})
      for (int64_t i = 0; i < got[k].size(); ++i) {
        EXPECT_EQ(got[k].toDouble(i), want[k].toDouble(i))
            << "argument " << k << ", element " << i;
        norm += std::abs(got[k].toDouble(i));
      }
    EXPECT_GT(norm, 0);
  }
}

/// A reduction by a body on quantised scalars.
TEST(QuantizedGradient, OfReductions) {
  const std::string q = "!quant.uniform<i8:f32, 0.02:1>";
  const std::vector<Tensor> got = gradientsOf(
      "(%x: tensor<3x4xf32>) -> tensor<3xf32> {\n"
      "%c = stablehlo.constant dense<-2.0> : tensor<f32>\n"
      "%i = stablehlo.uniform_quantize %c : (tensor<f32>) -> tensor<" +
          q +
          ">\n%q = stablehlo.uniform_quantize %x : (tensor<3x4xf32>) -> "
          "tensor<3x4x" +
          q +
          ">\n%r = stablehlo.reduce(%q init: %i) applies stablehlo.maximum "
          "across dimensions = [1] : (tensor<3x4x" +
          q + ">, tensor<" + q + ">) -> tensor<3x" + q +
          ">\n%y = stablehlo.uniform_dequantize %r : (tensor<3x" + q +
          ">) -> tensor<3xf32>\nreturn %y : tensor<3xf32> }",
      {-1, 1});
  ASSERT_EQ(got.size(), 1u);
  for (int64_t row = 0; row < 3; ++row) {
    int set = 0;
    for (int64_t i = 0; i < 4; ++i)
      set += got[0].toDouble(4 * row + i) != 0;
    EXPECT_EQ(set, 1) << "row " << row;
  }
}

/// A body that rounds to another scale, and reads a quantised constant: the
/// gradients are those of a body on real numbers that rounds them as often.
TEST(QuantizedGradient, OfReductionsThatRescale) {
  const std::string q = "tensor<!quant.uniform<i8:f32, 0.02:1>>",
                    k = "tensor<!quant.uniform<i8:f32, 0.05:-3>>",
                    many = "tensor<3x4x!quant.uniform<i8:f32, 0.02:1>>",
                    some = "tensor<3x!quant.uniform<i8:f32, 0.02:1>>";
  const std::string start =
      "(%x: tensor<3x4xf32>) -> tensor<3xf32> {\n"
      "%c = stablehlo.constant dense<0.5> : tensor<f32>\n"
      "%i = stablehlo.uniform_quantize %c : (tensor<f32>) -> " +
      q + "\n%q = stablehlo.uniform_quantize %x : (tensor<3x4xf32>) -> " +
      many + "\n";
  const std::vector<Tensor> got =
      gradientsOf(start + R"(%r = "stablehlo.reduce"(%q, %i) ({
      ^bb0(%a: )" + q +
                      ", %b: " + q + R"():
        %u = stablehlo.uniform_quantize %b : ()" +
                      q + ") -> " + k + R"(
        %f = stablehlo.constant() {value = dense<20> : tensor<i8>} : () -> )" +
                      k + R"(
        %m = stablehlo.multiply %u, %f : )" +
                      k + R"(
        %v = stablehlo.uniform_quantize %m : ()" +
                      k + ") -> " + q + R"(
        %d = stablehlo.uniform_dequantize %v : ()" +
                      q + R"() -> tensor<f32>
        %e = stablehlo.uniform_quantize %d : (tensor<f32>) -> )" +
                      q + R"(
        %s = stablehlo.add %a, %e : )" +
                      q + R"(
        stablehlo.return %s : )" +
                      q + R"(
      }) {dimensions = array<i64: 1>} : ()" +
                      many + ", " + q + ") -> " + some + R"(
      %y = stablehlo.uniform_dequantize %r : ()" +
                      some + ") -> tensor<3xf32>\nreturn %y : tensor<3xf32> }",
                  {-3, 3});
  const std::string back = ") -> tensor<f32>\n", to = " : (tensor<f32>) -> ";
  const std::vector<Tensor> want = gradientsOf(
      start + "%x1 = stablehlo.uniform_dequantize %q : (" + many +
          ") -> tensor<3x4xf32>\n%i1 = stablehlo.uniform_dequantize %i : (" +
          q + back + R"(%r = "stablehlo.reduce"(%x1, %i1) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %f = stablehlo.constant dense<1.15> : tensor<f32>
        %u = stablehlo.uniform_quantize %b)" +
          to + k + "\n%u1 = stablehlo.uniform_dequantize %u : (" + k + back +
          "%m = stablehlo.multiply %u1, %f : tensor<f32>\n"
          "%v = stablehlo.uniform_quantize %m" +
          to + q + "\n%v1 = stablehlo.uniform_dequantize %v : (" + q + back +
          R"(%s = stablehlo.add %a, %v1 : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {dimensions = array<i64: 1>} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
      %r1 = stablehlo.uniform_quantize %r : (tensor<3xf32>) -> )" +
          some + "\n%y = stablehlo.uniform_dequantize %r1 : (" + some +
          ") -> tensor<3xf32>\nreturn %y : tensor<3xf32> }",
      {-3, 3});
  ASSERT_EQ(got.size(), 1u);
  ASSERT_EQ(want.size(), 1u);
  int cut = 0;
  for (int64_t i = 0; i < got[0].size(); ++i) {
    EXPECT_EQ(got[0].toDouble(i), want[0].toDouble(i)) << i;
    cut += got[0].toDouble(i) == 0;
  }
  EXPECT_GT(cut, 0);
  EXPECT_LT(cut, 12);
}

/// Storage elements as such have no gradient.
TEST(QuantizedGradient, EndsAtStorage) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %i = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
    %q = stablehlo.bitcast_convert %i : (tensor<4xi8>) -> tensor<4x!quant.uniform<i8:f32, 0.1:0>>
    %y = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 0.1:0>>) -> tensor<4xf32>
    return %y : tensor<4xf32> })");
  const std::string message = refusalOf(model);
  EXPECT_EQ(message.find("'stablehlo.bitcast_convert' op has no gradient; what "
                         "is differentiated depends on it through "
                         "stablehlo.uniform_dequantize at "),
            0u)
      << message;
}
