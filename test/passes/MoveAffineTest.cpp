// Scales and shifts that move to constants which stay quantised.

#include "passes/MoveAffine.h"

#include "graph/Quantization.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/GraphHarness.h"
#include "passes/Pipelines.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// Rows of a quantised table, of four features, and what is behind.
std::string tableText(const std::string &behind) {
  return R"(func.func @main(%x: tensor<5xi64>) -> tensor<5x4xf32> {
  %q = stablehlo.constant() {value = dense<[[1, 2, 3, 4], [-5, 6, -7, 8],
      [9, 10, 11, -12]]> : tensor<3x4xi8>} : () ->
      tensor<3x4x!quant.uniform<i8:f32, 0.5>>
  %table = stablehlo.uniform_dequantize %q :
      (tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x4xf32>
  %rows = nn.take %table, %x, axis = 0 :
      (tensor<3x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  %s = stablehlo.constant dense<[2.0, 0.5, -1.0, 4.0]> : tensor<4xf32>
  %t = stablehlo.constant dense<[1.0, -1.0, 0.5, 0.25]> : tensor<4xf32>
  %v = stablehlo.constant dense<[1.0, 4.0, 0.25, 1.0]> : tensor<4xf32>
)" + behind +
         "  return %y : tensor<5x4xf32>\n}";
}

/// Simplified as what is compiled is, with the same values.
void expectStored(const std::string &behind, int norms, int multiplications) {
  SCOPED_TRACE(behind);
  Model model = parseModel(tableText(behind));
  ASSERT_TRUE(model.entry());
  Tensor indices(ElementType::I64, Shape{5});
  for (int64_t i = 0; i < 5; ++i)
    indices.set<int64_t>(i, i % 3);
  const auto before = interpret(model.entry(), {indices});
  ASSERT_TRUE(before) << before.error().message();
  SimplifyOptions options;
  options.keepsQuantizedConstants = true;
  ASSERT_TRUE(simplify(model, options));
  int64_t floats = 0, quantized = 0;
  model.module().walk([&](stablehlo::ConstantOp op) {
    const auto type = tensorOf(op.getResult());
    if (type.getNumElements() >= 12)
      ++(quantizedOf(type) ? quantized : floats);
  });
  EXPECT_EQ(floats, 0) << textOf(model);
  EXPECT_EQ(quantized, 1) << textOf(model);
  EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), norms);
  EXPECT_EQ(countOps(model, "stablehlo.multiply"), multiplications);
  const auto after = interpret(model.entry(), {indices});
  ASSERT_TRUE(after) << after.error().message();
  for (int64_t i = 0; i < (*before)[0].size(); ++i)
    EXPECT_EQ((*before)[0].toDouble(i), (*after)[0].toDouble(i));
}

TEST(MoveAffine, QuantisedConstantsTakeUpScales) {
  expectStored(R"(  %ss = stablehlo.broadcast_in_dim %s, dims = [1] :
      (tensor<4xf32>) -> tensor<5x4xf32>
  %y = stablehlo.multiply %rows, %ss : tensor<5x4xf32>
)",
               0, 0);
}

TEST(MoveAffine, QuantisedConstantsStaySo) {
  expectStored(R"(  %y = "stablehlo.batch_norm_inference"(%rows, %s, %t, %t, %v)
      {epsilon = 0.0 : f32, feature_index = 1 : i64} :
      (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>) -> tensor<5x4xf32>
)",
               1, 0);
}

enum class NormPlace { Behind, BehindRelu, BehindConcat, TwoReaders, InFront };

struct QuantisedCase {
  NormPlace place;
  bool isConvolution, isPerChannel, isDynamic;
};

/// A product of floats and a weight that is dequantised, or two.
std::string quantisedText(const QuantisedCase &test) {
  const std::string rest = !test.isConvolution ? "x"
                           : test.isDynamic    ? "x?x?x"
                                               : "x4x2x",
                    batch = test.isDynamic ? "?x" : "2x",
                    kernel = test.isConvolution ? "x1x1x" : "x";
  auto typeOf = [&](int channels) {
    return "tensor<" + batch +
           (test.isConvolution ? std::to_string(channels) + rest
                               : std::to_string(channels) + "x") +
           "f32>";
  };
  std::string text;
  // A matmul's weight is [in, out], a convolution's [out, in, 1, 1].
  auto weight = [&](const std::string &name, int seed) {
    const std::string shape = "2x2" + kernel,
                      axis = test.isConvolution ? "0" : "1",
                      type = shape + "!quant.uniform<i8:f32" +
                             (test.isPerChannel ? ":" + axis + ", {0.5, 0.25}>"
                                                : ", 0.5>");
    std::string numbers;
    for (int i = 0; i < 4; ++i) {
      const std::string number = std::to_string((i * 5 + seed * 7) % 23 - 11),
                        one =
                            test.isConvolution ? "[[" + number + "]]" : number;
      numbers += (i % 2 ? ", " : i ? "], [" : "") + one;
    }
    text += "  %" + name + "q = stablehlo.constant() {value = dense<[[" +
            numbers + "]]> : tensor<" + shape + "i8>} : () -> tensor<" + type +
            ">\n  %" + name + " = stablehlo.uniform_dequantize %" + name +
            "q : (tensor<" + type + ">) -> tensor<" + shape + "f32>\n";
  };
  auto product = [&](const std::string &name, const std::string &of, int seed) {
    weight(name + "w", seed);
    const std::string types = " : (" + typeOf(2) + ", tensor<2x2" + kernel +
                              "f32>) -> " + typeOf(2) + "\n",
                      operands = "%" + of + ", %" + name + "w";
    text += "  %" + name + " = ";
    text += test.isConvolution
                ? "stablehlo.convolution(" + operands +
                      ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, "
                      "1], window = {} {batch_group_count = 1 : i64, "
                      "feature_group_count = 1 : i64}" +
                      types
                : "stablehlo.dot_general " + operands +
                      ", contracting_dims = [1] x [0]" + types;
  };
  auto norm = [&](const std::string &name, const std::string &of, int count) {
    auto list = [&](const char *parameter, std::vector<const char *> numbers) {
      text += "  %" + name + parameter + " = stablehlo.constant dense<[";
      for (int i = 0; i < count; ++i)
        text += (i ? ", " : "") + std::string(numbers[i]);
      text += "]> : tensor<" + std::to_string(count) + "xf32>\n";
    };
    list("s", {"2.0", "0.5", "4.0", "1.0"});
    list("t", {"1.0", "-3.0", "0.5", "2.0"});
    list("m", {"0.5", "2.0", "-1.0", "1.0"});
    list("v", {"1.0", "0.25", "1.0", "4.0"});
    const std::string vector = ", tensor<" + std::to_string(count) + "xf32>";
    text += "  %" + name + " = \"stablehlo.batch_norm_inference\"(%" + of +
            ", %" + name + "s, %" + name + "t, %" + name + "m, %" + name +
            "v) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (" +
            typeOf(count) + vector + vector + vector + vector + ") -> " +
            typeOf(count) + "\n";
  };
  int channels = 2;
  switch (test.place) {
  case NormPlace::Behind:
    product("a", "x", 1);
    norm("y", "a", 2);
    break;
  case NormPlace::BehindRelu:
    product("a", "x", 1);
    text += "  %r = nn.relu %a : " + typeOf(2) + "\n";
    norm("y", "r", 2);
    break;
  case NormPlace::BehindConcat:
    product("a", "x", 1);
    product("b", "x", 2);
    channels = 4;
    text += "  %c = stablehlo.concatenate %a, %b, dim = 1 : (" + typeOf(2) +
            ", " + typeOf(2) + ") -> " + typeOf(4) + "\n";
    norm("y", "c", 4);
    break;
  case NormPlace::TwoReaders:
    // The second product takes up the inverse as floats.
    product("a", "x", 1);
    text += "  %r = nn.relu %a : " + typeOf(2) + "\n";
    norm("n", "r", 2);
    product("b", "r", 3);
    text += "  %y = stablehlo.add %n, %b : " + typeOf(2) + "\n";
    break;
  case NormPlace::InFront:
    text += "  %r = nn.relu %x : " + typeOf(2) + "\n";
    norm("n", "r", 2);
    product("y", "n", 1);
    break;
  }
  return "func.func @main(%x: " + typeOf(2) + ") -> " + typeOf(channels) +
         " {\n" + text + "  return %y : " + typeOf(channels) + "\n}";
}

TEST(MoveAffine, QuantisedProductsTakeUpNorms) {
  for (NormPlace place :
       {NormPlace::Behind, NormPlace::BehindRelu, NormPlace::BehindConcat,
        NormPlace::TwoReaders, NormPlace::InFront})
    for (int cell = 0; cell < 8; ++cell) {
      const QuantisedCase test{place, (cell & 1) != 0, (cell & 2) != 0,
                               (cell & 4) != 0};
      SCOPED_TRACE(quantisedText(test));
      Model model = parseModel(quantisedText(test));
      ASSERT_TRUE(model.entry());
      Model simplified = model.clone();
      SimplifyOptions options;
      options.keepsQuantizedConstants = true;
      ASSERT_TRUE(simplify(simplified, options));
      // Scales for channels of the input and of the result are none for both:
      // a multiplication stays there, and the shift is a bias.
      const bool isCrossed =
          test.isPerChannel &&
          (place == NormPlace::InFront || place == NormPlace::TwoReaders);
      EXPECT_TRUE(isCrossed ||
                  (!countOps(simplified, "stablehlo.batch_norm_inference") &&
                   !countOps(simplified, "stablehlo.multiply")))
          << textOf(simplified);
      if (place == NormPlace::InFront) {
        EXPECT_EQ(countOps(simplified, "stablehlo.batch_norm_inference"), 0);
        EXPECT_EQ(countOps(simplified, "stablehlo.add"), 1);
        EXPECT_EQ(countOps(simplified, "stablehlo.multiply"), int(isCrossed));
      }
      simplified.module().walk([&](stablehlo::ConstantOp op) {
        EXPECT_TRUE(tensorOf(op.getResult()).getNumElements() < 4 ||
                    quantizedOf(op.getResult().getType()) ||
                    place == NormPlace::BehindConcat)
            << textOf(simplified);
      });
      for (int64_t more : {0, 1}) {
        if (more && !test.isDynamic)
          continue;
        Shape shape = {2 + more, 2};
        if (test.isConvolution)
          shape = {2 + more, 2, 4 - more, 2 + more};
        Tensor x(ElementType::F32, shape);
        for (int64_t i = 0; i < x.size(); ++i)
          x.set<float>(i, static_cast<float>(i * 7 % 33 - 16) / 8);
        const auto before = interpret(model.entry(), {x}),
                   after = interpret(simplified.entry(), {x});
        ASSERT_TRUE(before && after);
        for (int64_t i = 0; i < (*before)[0].size(); ++i)
          EXPECT_EQ((*before)[0].toDouble(i), (*after)[0].toDouble(i));
      }
    }
}

} // namespace
