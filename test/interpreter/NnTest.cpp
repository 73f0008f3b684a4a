//===- NnTest.cpp - the structured operations -----------------------------===//
//
// Covers: interpreter NnAttention NnElementwise NnNormalization NnPooling
// Covers: interpreter NnRecurrent NnResize NnShape NnSuppression NnTrees

#include "interpreter/Evaluate.h"

#include <cmath>

using namespace sinter;
using Doubles = std::vector<double>;

static Doubles run(const std::string &body, const std::string &type) {
  Evaluated result = evaluateBody(body, type);
  EXPECT_EQ(result.error, "");
  return result.doubles();
}

static void expectNear(const Doubles &got, const Doubles &expected,
                       double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

static Doubles activation(const std::string &op) {
  return run("%x = stablehlo.constant dense<[-2.0, 0.0, 1.5]> : tensor<3xf32>"
             "\n%r = nn." +
                 op + " : tensor<3xf32>",
             "tensor<3xf32>");
}

/// In the middle between two elements, and just below.
TEST(NnElementwise, QuantizeRoundsBeforeTheZeroPoint) {
  auto quantized = [](const std::string &op) {
    const std::string type = "tensor<5x!quant.uniform<i8:f32, 0.5:3>>";
    return run("%x = stablehlo.constant dense<[0.25, 0.75, -0.25, 1000.0, "
               "0.74999994]> : tensor<5xf32>\n%q = " +
                   op + " %x : (tensor<5xf32>) -> " + type +
                   "\n%r = stablehlo.bitcast_convert %q : (" + type +
                   ") -> tensor<5xi8>",
               "tensor<5xi8>");
  };
  expectNear(quantized("nn.quantize"), {3, 5, 3, 127, 4}, 0);
  expectNear(quantized("stablehlo.uniform_quantize"), {4, 4, 2, 127, 4}, 0);
}

/// relu(x) of numbers of one scale in another.
TEST(NnElementwise, QuantisedFunctionsChangeTheScale) {
  const std::string from = "tensor<4x!quant.uniform<i8:f32, 0.5:1>>",
                    to = "tensor<4x!quant.uniform<i8:f32, 0.25:-2>>";
  expectNear(run("%x = \"stablehlo.constant\"() {value = dense<[-7, 1, 2, "
                 "120]> : tensor<4xi8>} : () -> " +
                     from + "\n%y = nn.relu %x : (" + from + ") -> " + to +
                     "\n%r = stablehlo.bitcast_convert %y : (" + to +
                     ") -> tensor<4xi8>",
                 "tensor<4xi8>"),
             {-2, -2, 0, 127}, 0);
}

TEST(NnAssume, OtherInputsAreAnError) {
  auto assume = [](const std::string &value, const std::string &holds) {
    return evaluateBody("%c = stablehlo.constant dense<" + value +
                            "> : tensor<i1>\nnn.assume %c is " + holds +
                            ", \"pick\" : tensor<i1>\n%r = "
                            "stablehlo.constant dense<2.0> : tensor<f32>",
                        "tensor<f32>")
        .error;
  };
  EXPECT_EQ(assume("true", "true"), "");
  EXPECT_EQ(assume("false", "false"), "");
  for (bool holds : {true, false})
    EXPECT_NE(assume(holds ? "false" : "true", holds ? "true" : "false")
                  .find("one branch of 'pick' only"),
              std::string::npos);
}

TEST(NnElementwise, Activations) {
  expectNear(activation("relu %x"), {0, 0, 1.5});
  expectNear(activation("leaky_relu %x {alpha = 0.1 : f64}"), {-0.2, 0, 1.5});
  expectNear(activation("elu %x {alpha = 2.0 : f64}"),
             {2 * std::expm1(-2.0), 0, 1.5});
  expectNear(activation("hard_swish %x"), {-2 * (0.5 - 1.0 / 3), 0, 1.125});
  expectNear(activation("softplus %x"), {std::log1p(std::exp(-2)), std::log(2),
                                         std::log1p(std::exp(1.5))});
  expectNear(activation("gelu %x {approximate = false}"),
             {-0.0455002639, 0, 1.3997892});
  expectNear(activation("silu %x {alpha = 1.0 : f64}"),
             {-2 / (1 + std::exp(2)), 0, 1.5 / (1 + std::exp(-1.5))});
  expectNear(activation("shrink %x {bias = 0.5 : f64, lambda = 1.0 : f64}"),
             {-1.5, 0, 1});
}

TEST(NnElementwise, PReluBroadcastsTheSlope) {
  expectNear(run(R"(
    %x = stablehlo.constant dense<[[-1., -2.], [3., -4.]]> : tensor<2x2xf32>
    %s = stablehlo.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
    %r = nn.prelu %x, %s : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>)",
                 "tensor<2x2xf32>"),
             {-0.5, -1, 3, -1});
}

TEST(NnShape, TakeCountsFromTheEnd) {
  EXPECT_EQ(run(R"(
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[-1, 0, 9]> : tensor<3xi64>
    %r = nn.take %x, %i, axis = 1 : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>)",
                "tensor<2x3xi32>"),
            (Doubles{3, 1, 3, 6, 4, 6}));
  EXPECT_EQ(run(R"(
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[[1, 0, 1]]> : tensor<1x3xi64>
    %r = nn.take_along %x, %i, axis = 0 : (tensor<2x3xi32>, tensor<1x3xi64>) -> tensor<1x3xi32>)",
                "tensor<1x3xi32>"),
            (Doubles{4, 2, 6}));
}

TEST(NnShape, PadModes) {
  auto pad = [](const std::string &mode) {
    return run("%x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
               "%r = nn.pad_mode %x, \"" +
                   mode +
                   "\" low = [2] high = [4] : (tensor<3xi32>) -> tensor<9xi32>",
               "tensor<9xi32>");
  };
  EXPECT_EQ(pad("reflect"), (Doubles{3, 2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(pad("edge"), (Doubles{1, 1, 1, 2, 3, 3, 3, 3, 3}));
  EXPECT_EQ(pad("wrap"), (Doubles{2, 3, 1, 2, 3, 1, 2, 3, 1}));
}

TEST(NnSuppression, TakesTheBestOfEachClassOnce) {
  // Boxes 0 and 1 share 0.81 / 1.19 of what they cover, 2 stands apart, and 3
  // is box 0 with its corners in another order.
  const auto taken = [](const std::string &most, const std::string &overlap,
                        const std::string &threshold) {
    return run(R"(
    %b = stablehlo.constant dense<[[[0.0, 0.0, 1.0, 1.0], [0.1, 0.1, 1.1, 1.1],
        [5.0, 5.0, 6.0, 6.0], [1.0, 1.0, 0.0, 0.0]]]> : tensor<1x4x4xf32>
    %s = stablehlo.constant dense<[[[0.8, 0.9, 0.3, 0.8],
        [0.8, 0.1, 0.8, 0.8]]]> : tensor<1x2x4xf32>
    %m = stablehlo.constant dense<)" +
                   most + R"(> : tensor<i64>
    %o = stablehlo.constant dense<)" +
                   overlap + R"(> : tensor<f32>
    %t = stablehlo.constant dense<)" +
                   threshold + R"(> : tensor<f32>
    %r = nn.non_max_suppression %b, %s, %m, %o, %t centred = false :
        (tensor<1x4x4xf32>, tensor<1x2x4xf32>, tensor<i64>, tensor<f32>,
         tensor<f32>) -> tensor<?x3xi64>)",
               "tensor<?x3xi64>");
  };
  EXPECT_EQ(taken("4", "0.5", "0.2"),
            (Doubles{0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 1, 2}));
  EXPECT_EQ(taken("4", "0.7", "0.2"),
            (Doubles{0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 1, 2}));
  EXPECT_EQ(taken("1", "0.7", "0.2"), (Doubles{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(taken("4", "0.5", "0.85"), (Doubles{0, 0, 1}));
  EXPECT_EQ(taken("0", "0.5", "0.2"), (Doubles{}));
}

TEST(NnShape, OneHotNonZeroCumulativeSum) {
  EXPECT_EQ(run(R"(
    %i = stablehlo.constant dense<[1, -1, 7]> : tensor<3xi64>
    %v = stablehlo.constant dense<[0.0, 5.0]> : tensor<2xf32>
    %r = nn.one_hot %i, %v, axis = 0 : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x3xf32>)",
                "tensor<3x3xf32>"),
            (Doubles{0, 0, 0, 5, 0, 0, 0, 5, 0}));
  EXPECT_EQ(run(R"(
    %x = stablehlo.constant dense<[[0, 1], [2, 0]]> : tensor<2x2xi32>
    %r = nn.non_zero %x : (tensor<2x2xi32>) -> tensor<2x?xi64>)",
                "tensor<2x?xi64>"),
            (Doubles{0, 1, 1, 0}));
  EXPECT_EQ(run(R"(
    %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %r = nn.cumulative_sum %x, axis = 0 {exclusive = true, reverse = true} : tensor<3xi32>)",
                "tensor<3xi32>"),
            (Doubles{5, 3, 0}));
  // 2048 + 1 is 2048 in f16; from the end it is 1 + 1 first.
  auto ofHalf = [](const std::string &reverse) {
    return run("%x = stablehlo.constant dense<[2048.0, 1.0, 1.0]> : "
               "tensor<3xf16>\n%r = nn.cumulative_sum %x, axis = 0 {exclusive "
               "= false, reverse = " +
                   reverse + "} : tensor<3xf16>",
               "tensor<3xf16>");
  };
  EXPECT_EQ(ofHalf("false"), (Doubles{2048, 2048, 2048}));
  EXPECT_EQ(ofHalf("true"), (Doubles{2050, 2, 1}));
}

TEST(NnShape, ArgMaxAndTopK) {
  EXPECT_EQ(run(R"(
    %x = stablehlo.constant dense<[[1., 3., 3.], [-1., -2., 0xFFC00000]]> : tensor<2x3xf32>
    %r = nn.arg_max %x, axis = 1 {keep_dimension = false, select_last = false}
      : (tensor<2x3xf32>) -> tensor<2xi64>)",
                "tensor<2xi64>"),
            (Doubles{1, 2}));
  EXPECT_EQ(run(R"(
    %x = stablehlo.constant dense<[1, 3, 2, 3]> : tensor<4xui64>
    %v, %r = nn.top_k %x, k = 3, axis = 0 {largest = true}
      : (tensor<4xui64>) -> (tensor<3xui64>, tensor<3xi64>))",
                "tensor<3xi64>"),
            (Doubles{1, 3, 2}));
}

/// Two nodes and a leaf, by hand: the first tree has x1 <= 0.25, then x0 != 1,
/// which holds for NaN.
TEST(NnTrees, EachAggregate) {
  auto ofAggregate = [&](const std::string &aggregate) {
    return run(R"(
      %x = stablehlo.constant dense<[[1., 0.25], [2., 0.], [0., 1.],
        [0x7FC00000, -1.], [1., 0x7FC00000]]> : tensor<5x2xf32>
      %r = nn.tree_ensemble %x, ")" +
                   aggregate + R"(" {roots = array<i32: 0, -4>,
        features = array<i32: 1, 0>, thresholds = array<f64: 0.25, 1.0>,
        modes = array<i8: 0, 5>, true_children = array<i32: 1, -2>,
        false_children = array<i32: -1, -3>,
        leaf_starts = array<i32: 0, 1, 3, 4, 5>,
        targets = array<i32: 0, 0, 1, 1, 0>,
        weights = array<f64: 1.0, 2.0, 3.0, 4.0, 10.0>, target_count = 2 : i64}
        : (tensor<5x2xf32>) -> tensor<5x2xf32>)",
               "tensor<5x2xf32>");
  };
  EXPECT_EQ(ofAggregate("sum"), (Doubles{10, 4, 12, 3, 11, 0, 12, 3, 11, 0}));
  EXPECT_EQ(ofAggregate("average"),
            (Doubles{5, 2, 6, 1.5, 5.5, 0, 6, 1.5, 5.5, 0}));
  EXPECT_EQ(ofAggregate("minimum"), (Doubles{10, 4, 2, 3, 1, 0, 2, 3, 1, 0}));
  EXPECT_EQ(ofAggregate("maximum"),
            (Doubles{10, 4, 10, 3, 10, 0, 10, 3, 10, 0}));
}

static const char *plane =
    "%x = stablehlo.constant dense<[[[[1., 2., 3.], [4., 5., 6.], [7., 8., "
    "9.]]]]> : tensor<1x1x3x3xf32>\n";

TEST(NnPooling, MaxAndIndices) {
  const std::string attributes =
      "window = [2, 2] strides = [1, 1] {dilations = array<i64: 1, 1>, "
      "padding_low = array<i64: 1, 1>, padding_high = array<i64: 0, 0>";
  EXPECT_EQ(run(plane + ("%r = nn.max_pool %x, " + attributes +
                         "} : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>"),
                "tensor<1x1x3x3xf32>"),
            (Doubles{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(run(plane + ("%r = nn.max_pool_indices %x, " + attributes +
                         ", column_major = true} : (tensor<1x1x3x3xf32>) -> "
                         "tensor<1x1x3x3xi64>"),
                "tensor<1x1x3x3xi64>"),
            (Doubles{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(NnPooling, AverageCountsPaddingButNotCeiling) {
  const std::string attributes =
      "window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, "
      "padding_low = array<i64: 1, 1>, padding_high = array<i64: 0, 0>, ";
  const std::string type = "} : (tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>";
  expectNear(run(plane + ("%r = nn.average_pool %x, " + attributes +
                          "count_padding = true" + type),
                 "tensor<1x1x2x2xf32>"),
             {0.25, 1.25, 2.75, 7});
  expectNear(run(plane + ("%r = nn.average_pool %x, " + attributes +
                          "count_padding = false" + type),
                 "tensor<1x1x2x2xf32>"),
             {1, 2.5, 5.5, 7});
}

TEST(NnNormalization, SoftmaxOverAnyAxis) {
  const double a = 1 / (1 + std::exp(-2)), b = 1 - a;
  expectNear(run(R"(
    %x = stablehlo.constant dense<[[1000., 1.], [998., 3.]]> : tensor<2x2xf32>
    %r = nn.softmax %x, axes = [0] : tensor<2x2xf32>)",
                 "tensor<2x2xf32>"),
             {a, b, b, a});
}

TEST(NnAttention, WeighsValuesByScores) {
  // Scores 2 * [1, 0] of the first row; the second sees the first key alone, by
  // the mask.
  const double a = 1 / (1 + std::exp(-2));
  expectNear(run(R"(
    %q = stablehlo.constant dense<[[1., 0.], [0., 1.]]> : tensor<2x2xf32>
    %v = stablehlo.constant dense<[[10., 20., 30.], [0., 0., 0.]]> : tensor<2x3xf32>
    %m = stablehlo.constant dense<[[0., 0.], [0., 0xFF800000]]> : tensor<2x2xf32>
    %r = nn.attention %q, %q, %v, %m scale = 2.0
      : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x2xf32>)
      -> tensor<2x3xf32>)",
                 "tensor<2x3xf32>"),
             {10 * a, 20 * a, 30 * a, 10, 20, 30});
}

TEST(NnNormalization, LayerNormGivesItsStatistics) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
      %x = stablehlo.constant dense<[[1., 3.]]> : tensor<1x2xf32>
      %s = stablehlo.constant dense<[2., 4.]> : tensor<2xf32>
      %b = stablehlo.constant dense<[10., 20.]> : tensor<2xf32>
      %r:3 = nn.layer_norm %x, %s, %b axis = 1 {epsilon = 0.0 : f64, compute_type = f32}
        : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>)
          -> (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
      return %r#0, %r#1, %r#2 : tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x1xf32>
    })");
  EXPECT_EQ(result.error, "");
  expectNear(result.doubles(0), {8, 24});
  expectNear(result.doubles(1), {2});
  expectNear(result.doubles(2), {1});
}

TEST(NnNormalization, LrnWindowIsLongerAfter) {
  // Size 2: the channel itself and the one after.
  expectNear(run(R"(
    %x = stablehlo.constant dense<[[[1.], [2.], [3.]]]> : tensor<1x3x1xf32>
    %r = nn.lrn %x {size = 2 : i64, alpha = 2.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64}
      : tensor<1x3x1xf32>)",
                 "tensor<1x3x1xf32>"),
             {1.0 / 6, 2.0 / 14, 3.0 / 10});
}

TEST(NnRecurrent, GruStepByHand) {
  // One unit, weights all 1, no bias: z = r = s(x), n = tanh(x), h = (1 - z) n.
  const double z = 1 / (1 + std::exp(-1)), h1 = (1 - z) * std::tanh(1);
  const double z2 = 1 / (1 + std::exp(-(1 + h1)));
  const double h2 = (1 - z2) * std::tanh(1 + z2 * h1) + z2 * h1;
  expectNear(run(R"(
    %x = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>
    %w = stablehlo.constant dense<1.0> : tensor<1x3x1xf32>
    %r, %last = "nn.gru"(%x, %w, %w) {direction = "forward",
      activations = ["Sigmoid", "Tanh"], linear_before_reset = false,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x1x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>)
        -> (tensor<2x1x1x1xf32>, tensor<1x1x1xf32>))",
                 "tensor<2x1x1x1xf32>"),
             {h1, h2});
}

TEST(NnRecurrent, LstmStopsAtTheSequencesEnd) {
  // Gates 0.5 each with zero weights except the input to c.
  const double c1 = 0.5 * std::tanh(1), h1 = 0.5 * std::tanh(c1);
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
      %x = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>
      %w = stablehlo.constant dense<[[[0.], [0.], [0.], [1.]]]> : tensor<1x4x1xf32>
      %u = stablehlo.constant dense<0.0> : tensor<1x4x1xf32>
      %n = stablehlo.constant dense<1> : tensor<1xi32>
      %y, %h, %c = "nn.lstm"(%x, %w, %u, %n) {direction = "reverse",
        activations = ["Sigmoid", "Tanh", "Tanh"], input_forget = false,
        operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>}
        : (tensor<2x1x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1xi32>)
          -> (tensor<2x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>)
      return %y, %h, %c : tensor<2x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>
    })");
  EXPECT_EQ(result.error, "");
  expectNear(result.doubles(0), {h1, 0});
  expectNear(result.doubles(1), {h1});
  expectNear(result.doubles(2), {c1});
}

TEST(NnNormalize, LeavesZerosZero) {
  expectNear(run("%x = stablehlo.constant dense<[[0., 0.], [3., 4.]]> : "
                 "tensor<2x2xf32>\n"
                 "%r = nn.lp_normalize %x, axis = 1 {p = 2 : i64} : "
                 "tensor<2x2xf32>",
                 "tensor<2x2xf32>"),
             {0, 0, 0.6, 0.8});
}

static Doubles resize(const std::string &scale, int size,
                      const std::string &how) {
  const std::string type = "tensor<" + std::to_string(size) + "xf32>";
  return run("%x = stablehlo.constant dense<[1., 2., 3., 4.]> : tensor<4xf32>\n"
             "%r = nn.resize %x, scales = [" +
                 scale + "], " + how +
                 " {exclude_outside = false, antialias = false} : "
                 "(tensor<4xf32>) -> " +
                 type,
             type);
}

TEST(NnResize, ModesAndCoordinates) {
  expectNear(resize("2.0", 8, R"("linear", "half_pixel", "floor")"),
             {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4});
  expectNear(resize("2.0", 8, R"("nearest", "asymmetric", "floor")"),
             {1, 1, 2, 2, 3, 3, 4, 4});
  expectNear(resize("1.75", 7, R"("linear", "align_corners", "floor")"),
             {1, 1.5, 2, 2.5, 3, 3.5, 4});
  // The scaled size is 2.4, the tensor's 2: its corners are those of the
  // operand.
  expectNear(resize("0.6", 2, R"("linear", "align_corners", "floor")"), {1, 4});
  expectNear(resize("0.5", 2, R"("cubic", "half_pixel", "floor")"),
             {1.40625, 3.59375});
  // One place alone lies at 0, whatever size was cut to 1.
  for (const char *how : {R"("linear", "pytorch_half_pixel", "floor")",
                          R"("cubic", "pytorch_half_pixel", "floor")"})
    expectNear(resize("0.4", 1, how), {1});
}
