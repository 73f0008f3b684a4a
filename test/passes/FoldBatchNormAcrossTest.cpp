// Convolutions with any order of dimensions, drawn at random, and chains with
// transposes, reshapes and conversions between.

#include "passes/FoldBatchNorm.h"

#include "passes/GraphHarness.h"

#include <numeric>
#include <random>

using namespace sinter;
using namespace sinter::test;

namespace {

std::string join(const std::vector<std::string> &parts, const char *between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i ? between : "") + parts[i];
  return text;
}
std::string typeText(const std::vector<int64_t> &shape, const char *element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// A convolution whose letters stand anywhere.
struct RandomConvolution {
  std::vector<int64_t> x, k, y;
  std::string numbers;
  int64_t groups, batchGroups, channels, featureDim;
  std::string window;

  explicit RandomConvolution(std::mt19937 &random) {
    auto draw = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const int64_t rank = draw(1, 3);
    groups = draw(0, 2) == 0 ? 2 : 1;
    batchGroups = groups == 1 && draw(0, 3) == 0 ? 2 : 1;
    channels = 4;
    const int64_t inputs = 3;
    struct Dim {
      std::string letter;
      int64_t size;
    };
    std::vector<Dim> in = {{"b", 2}, {"f", inputs * groups}},
                     kernel = {{"o", channels}, {"i", inputs}},
                     out = {{"b", 2 / batchGroups}, {"f", channels}};
    std::vector<std::string> strides, padding;
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t size = draw(4, 5), taps = draw(1, 3), stride = draw(1, 2),
                    pad = draw(0, 1);
      const std::string letter = std::to_string(i);
      in.push_back({letter, size});
      kernel.push_back({letter, taps});
      out.push_back({letter, (size + 2 * pad - taps) / stride + 1});
      strides.push_back(std::to_string(stride));
      padding.push_back("[" + std::to_string(pad) + ", " + std::to_string(pad) +
                        "]");
    }
    auto shuffled = [&](std::vector<Dim> dims, std::vector<int64_t> &shape) {
      std::shuffle(dims.begin(), dims.end(), random);
      std::vector<std::string> letters;
      for (const Dim &dim : dims) {
        letters.push_back(dim.letter);
        shape.push_back(dim.size);
      }
      return "[" + join(letters, ", ") + "]";
    };
    numbers = shuffled(in, x) + "x" + shuffled(kernel, k) + "->";
    const std::string result = shuffled(out, y);
    numbers += result;
    featureDim = 0;
    for (char letter : result) {
      if (letter == 'f')
        break;
      featureDim += letter == ',';
    }
    window = "stride = [" + join(strides, ", ") + "], pad = [" +
             join(padding, ", ") + "]";
  }

  std::string text(const char *element) const {
    return "%p = stablehlo.convolution(%x, %k) dim_numbers = " + numbers +
           ", window = {" + window +
           "} {batch_group_count = " + std::to_string(batchGroups) +
           " : i64, feature_group_count = " + std::to_string(groups) +
           " : i64} : (" + typeText(x, element) + ", " + typeText(k, element) +
           ") -> " + typeText(y, element) + "\n";
  }
};

std::string norm(const char *out, const char *in, int64_t dimension,
                 const std::string &type, const char *element) {
  return fill("%$o = \"stablehlo.batch_norm_inference\"(%$i, %a, %b, %m, %v) "
              "{epsilon = 0.01 : f32, feature_index = $d : i64} : ($t, $c, $c, "
              "$c, $c) -> $t\n",
              {{"o", out},
               {"i", in},
               {"d", std::to_string(dimension)},
               {"t", type},
               {"c", std::string("tensor<4x") + element + ">"}});
}

/// main(x, k, a, b, m, v) with a convolution and \p body from %p to %r.
Model modelOf(const RandomConvolution &convolution, const std::string &body,
              const std::string &resultType, const char *element,
              const char *normElement) {
  Model model = parseModel(fill(
      "func.func @main(%x: $x, %k: $k, %a: $c, %b: $c, %m: $c, %v: $c) -> $r "
      "{\n$body  return %r : $r\n}",
      {{"x", typeText(convolution.x, element)},
       {"k", typeText(convolution.k, element)},
       {"c", std::string("tensor<4x") + normElement + ">"},
       {"r", resultType},
       {"body", convolution.text(element) + body}}));
  freezeWeights(model, /*positive=*/{5});
  return model;
}

TEST(FoldBatchNormAcross, AnyDimensionNumbers) {
  std::mt19937 random(20240607);
  for (int i = 0; i < 120; ++i) {
    const RandomConvolution convolution(random);
    SCOPED_TRACE(convolution.text("f32"));
    const std::string type = typeText(convolution.y, "f32");
    const Model model = modelOf(
        convolution, norm("r", "p", convolution.featureDim, type, "f32"), type,
        "f32", "f32");
    const Model folded = model.clone();
    applyPass(folded, createFoldBatchNorm());
    // convolution, broadcast_in_dim, add
    EXPECT_EQ(countComputations(folded), 3) << textOf(folded);
    expectClose(run(model), run(folded), 2e-5);
  }
}

/// A batch norm of another dimension than the features stays, even one of the
/// same size.
TEST(FoldBatchNormAcross, OtherDimensionsStay) {
  std::mt19937 random(7);
  int seen = 0;
  for (int i = 0; i < 200 && seen < 20; ++i) {
    const RandomConvolution convolution(random);
    for (size_t d = 0; d < convolution.y.size(); ++d) {
      if (convolution.y[d] != 4 ||
          static_cast<int64_t>(d) == convolution.featureDim)
        continue;
      ++seen;
      const std::string type = typeText(convolution.y, "f32");
      const Model model = modelOf(convolution, norm("r", "p", d, type, "f32"),
                                  type, "f32", "f32");
      applyPass(model, createFoldBatchNorm());
      EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), 1);
    }
  }
  EXPECT_GE(seen, 20);
}

TEST(FoldBatchNormAcross, Transposes) {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    const RandomConvolution convolution(random);
    SCOPED_TRACE(convolution.text("f32"));
    std::vector<int64_t> order(convolution.y.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<int64_t> shape;
    std::vector<std::string> words;
    for (int64_t dimension : order) {
      shape.push_back(convolution.y[dimension]);
      words.push_back(std::to_string(dimension));
    }
    const int64_t feature =
        std::find(order.begin(), order.end(), convolution.featureDim) -
        order.begin();
    const std::string type = typeText(shape, "f32");
    const std::string transpose =
        "%t = stablehlo.transpose %p, dims = [" + join(words, ", ") + "] : (" +
        typeText(convolution.y, "f32") + ") -> " + type + "\n";
    const Model model =
        modelOf(convolution, transpose + norm("r", "t", feature, type, "f32"),
                type, "f32", "f32");
    const Model folded = model.clone();
    applyPass(folded, createFoldBatchNorm());
    EXPECT_EQ(countOps(folded, "stablehlo.batch_norm_inference"), 0);
    EXPECT_EQ(countComputations(folded), 4) << textOf(folded);
    expectClose(run(model), run(folded), 2e-5);
  }
}

const char *const denseText =
    R"(func.func @main(%x: tensor<6x3x$T>, %k: tensor<3x4x$T>, %a: tensor<4x$U>, %b: tensor<4x$U>, %m: tensor<4x$U>, %v: tensor<4x$U>) -> $r {
  %p = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : (tensor<6x3x$T>, tensor<3x4x$T>) -> tensor<6x4x$T>
$body  return %r : $r
})";

Model denseModel(const std::string &body, const std::string &result,
                 const char *element, const char *normElement) {
  Model model = parseModel(fill(
      denseText,
      {{"T", element}, {"U", normElement}, {"r", result}, {"body", body}}));
  freezeWeights(model, /*positive=*/{5});
  return model;
}

TEST(FoldBatchNormAcross, Reshapes) {
  const Model model = denseModel(
      "%t = stablehlo.reshape %p : (tensor<6x4xf32>) -> tensor<2x3x4x1xf32>\n" +
          norm("r", "t", 2, "tensor<2x3x4x1xf32>", "f32"),
      "tensor<2x3x4x1xf32>", "f32", "f32");
  const Model folded = model.clone();
  applyPass(folded, createFoldBatchNorm());
  EXPECT_EQ(countComputations(folded), 4) << textOf(folded);
  expectClose(run(model), run(folded), 1e-5);
}

/// Whatever moves whole channels, and adds zeros at most, lets a scale pass.
TEST(FoldBatchNormAcross, WhateverMovesElements) {
  const struct {
    const char *move, *type;
    int channelDim;
    bool folds;
  } cases[] = {
      {R"(%t = "nn.take"(%p, %i) <{axis = 0 : i64}> : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>)",
       "tensor<3x4xf32>", 1, true},
      {R"(%t = "nn.take"(%p, %i) <{axis = 1 : i64}> : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<6x3xf32>)",
       "tensor<6x3xf32>", 0, false},
      {"%t = stablehlo.broadcast_in_dim %p, dims = [0, 2] : (tensor<6x4xf32>) "
       "-> tensor<6x2x4xf32>",
       "tensor<6x2x4xf32>", 2, true},
      {"%t = stablehlo.concatenate %p, %z, dim = 0 : (tensor<6x4xf32>, "
       "tensor<2x4xf32>) -> tensor<8x4xf32>",
       "tensor<8x4xf32>", 1, true},
      {"%t = stablehlo.concatenate %p, %o, dim = 0 : (tensor<6x4xf32>, "
       "tensor<2x4xf32>) -> tensor<8x4xf32>",
       "tensor<8x4xf32>", 1, false},
      {"%t = stablehlo.optimization_barrier %p : tensor<6x4xf32>",
       "tensor<6x4xf32>", 1, false},
  };
  for (const auto &[move, type, channelDim, folds] : cases) {
    SCOPED_TRACE(move);
    const std::string size = std::string(type) == "tensor<6x3xf32>" ? "6" : "4";
    const Model model = denseModel(
        "%i = stablehlo.constant dense<[3, 0, 2]> : tensor<3xi64>\n"
        "%z = stablehlo.constant dense<0.0> : tensor<2x4xf32>\n"
        "%o = stablehlo.constant dense<1.0> : tensor<2x4xf32>\n"
        "%s = stablehlo.constant dense<" +
            std::string(size == "6" ? "[1., 2., 3., 4., 5., 6.]"
                                    : "[1., 2., 3., 4.]") +
            "> : tensor<" + size + "xf32>\n" + move +
            "\n%w = stablehlo.broadcast_in_dim %s, dims = [" +
            std::to_string(channelDim) + "] : (tensor<" + size + "xf32>) -> " +
            type + "\n%r = stablehlo.multiply %t, %w : " + type + "\n",
        type, "f32", "f32");
    const Model folded = model.clone();
    applyPass(folded, createFoldBatchNorm());
    EXPECT_EQ(countOps(folded, "stablehlo.multiply"), folds ? 0 : 1)
        << textOf(folded);
    expectClose(run(model), run(folded), 1e-5);
  }
}

/// The channels are split: no one dimension has them.
TEST(FoldBatchNormAcross, ReshapesThatSplitChannelsStay) {
  const Model model = denseModel(
      "%t = stablehlo.reshape %p : (tensor<6x4xf32>) -> tensor<4x6xf32>\n" +
          norm("r", "t", 0, "tensor<4x6xf32>", "f32"),
      "tensor<4x6xf32>", "f32", "f32");
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), 1);
}

/// Products in bf16, normalised in f32: what JAX writes for mixed precision.
TEST(FoldBatchNormAcross, Conversions) {
  const char *const spread =
      "%w$n = stablehlo.broadcast_in_dim %$n, dims = [1] "
      ": (tensor<4xf32>) -> tensor<6x4xf32>\n";
  std::string body =
      "%c = stablehlo.convert %p : (tensor<6x4xbf16>) -> tensor<6x4xf32>\n";
  for (const char *name : {"a", "b", "m"})
    body += fill(spread, {{"n", name}});
  body += "%e = stablehlo.constant dense<0.01> : tensor<4xf32>\n"
          "%ve = stablehlo.add %v, %e : tensor<4xf32>\n"
          "%s = stablehlo.rsqrt %ve : tensor<4xf32>\n";
  body += fill(spread, {{"n", "s"}});
  body += "%0 = stablehlo.subtract %c, %wm : tensor<6x4xf32>\n"
          "%1 = stablehlo.multiply %0, %ws : tensor<6x4xf32>\n"
          "%2 = stablehlo.multiply %1, %wa : tensor<6x4xf32>\n"
          "%3 = stablehlo.add %2, %wb : tensor<6x4xf32>\n"
          "%r = stablehlo.convert %3 : (tensor<6x4xf32>) -> tensor<6x4xbf16>\n";
  const Model model = denseModel(body, "tensor<6x4xbf16>", "bf16", "f32");
  const Model folded = model.clone();
  applyPass(folded, createFoldBatchNorm());
  // dot_general, broadcast_in_dim, add
  EXPECT_EQ(countComputations(folded), 3) << textOf(folded);
  expectClose(run(model), run(folded), 4e-2);
}

TEST(FoldBatchNormAcross, TransposeBefore) {
  Model model = parseModel(
      R"(func.func @main(%x: tensor<3x6xf32>, %k: tensor<3x4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<6x4xf32> {
  %wa = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<3xf32>) -> tensor<3x6xf32>
  %wb = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<3xf32>) -> tensor<3x6xf32>
  %0 = stablehlo.multiply %x, %wa : tensor<3x6xf32>
  %1 = stablehlo.add %0, %wb : tensor<3x6xf32>
  %t = stablehlo.transpose %1, dims = [1, 0] : (tensor<3x6xf32>) -> tensor<6x3xf32>
  %p = stablehlo.dot_general %t, %k, contracting_dims = [1] x [0] : (tensor<6x3xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  return %p : tensor<6x4xf32>
})");
  freezeWeights(model);
  const Model folded = model.clone();
  applyPass(folded, createFoldBatchNorm());
  // transpose, dot_general, broadcast_in_dim, add
  EXPECT_EQ(countComputations(folded), 4) << textOf(folded);
  expectClose(run(model), run(folded), 1e-5);
}

/// What is rounded to a byte would be rounded by another scale.
TEST(FoldBatchNormAcross, RoundedProductsStay) {
  const Model model = parseModel(
      R"(func.func @main(%x: tensor<6x3x!quant.uniform<i8:f32, 0.1>>) -> tensor<6x4xf32> {
  %k = stablehlo.constant dense<1.0> : tensor<3x4xf32>
  %kq = stablehlo.uniform_quantize %k : (tensor<3x4xf32>) -> tensor<3x4x!quant.uniform<i8:f32, 0.2>>
  %s = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<6x4xf32>
  %p = stablehlo.dot_general %x, %kq, contracting_dims = [1] x [0] : (tensor<6x3x!quant.uniform<i8:f32, 0.1>>, tensor<3x4x!quant.uniform<i8:f32, 0.2>>) -> tensor<6x4x!quant.uniform<i8:f32, 0.5>>
  %d = stablehlo.uniform_dequantize %p : (tensor<6x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<6x4xf32>
  %r = stablehlo.multiply %d, %w : tensor<6x4xf32>
  return %r : tensor<6x4xf32>
})");
  const std::string before = textOf(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(before, textOf(model));
}

} // namespace
