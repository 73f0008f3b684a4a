// Folding in f16 and bf16 loses nothing that the graph keeps.

#include "passes/FoldBatchNorm.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

struct Case {
  std::string element;
  /// From %x to %a, from %p = product(%a, %k) to %y.
  std::string before, after;
  std::string weight;
  bool folds;
};

/// [2, 3] x [3, 4]; `<...>` in the texts is the element type.
std::string moduleOf(const Case &test, const std::string &result) {
  std::string text =
      "func.func @main(%x: tensor<2x3x@>) -> tensor<2x4x#> {\n%k = "
      "stablehlo.constant dense<" +
      test.weight + "> : tensor<3x4x@>\n" + test.before +
      "\n%p = stablehlo.dot_general %a, %k, contracting_dims = [1] x [0] : "
      "(tensor<2x3x@>, tensor<3x4x@>) -> tensor<2x4x@>\n" +
      test.after + "\nreturn %y : tensor<2x4x#>\n}\n";
  for (size_t at; (at = text.find('@', 20)) != std::string::npos;)
    text.replace(at, 1, test.element);
  for (size_t at; (at = text.find('#')) != std::string::npos;)
    text.replace(at, 1, result);
  return text;
}

std::string by(const std::string &to, const std::string &op,
               const std::string &from, const std::string &number,
               const std::string &shape, const std::string &element = "@") {
  std::string type = "tensor<" + shape + "x" + element + ">";
  return to + "_c = stablehlo.constant dense<" + number + "> : " + type + "\n" +
         to + " = stablehlo." + op + " " + from + ", " + to + "_c : " + type;
}

const std::string none = "%a = stablehlo.reshape %x : (tensor<2x3x@>) -> "
                         "tensor<2x3x@>";
const std::string same = "%y = stablehlo.reshape %p : (tensor<2x4x@>) -> "
                         "tensor<2x4x@>";

std::string widened(const std::string &number) {
  return "%w = stablehlo.convert %p : (tensor<2x4x@>) -> tensor<2x4xf32>\n" +
         by("%y", "multiply", "%w", number, "2x4", "f32");
}

TEST(FoldBatchNormHalf, KeepsWhatTheGraphKeeps) {
  auto before = [](const std::string &op, const std::string &number) {
    return by("%a", op, "%x", number, "2x3");
  };
  auto after = [](const std::string &op, const std::string &number) {
    return by("%y", op, "%p", number, "2x4");
  };
  const Case cases[] = {
      {"f16", before("multiply", "0.5"), same, "0.75", true},
      {"f16", before("multiply", "3.0"), same, "0.1", true},
      {"bf16", before("multiply", "1.0e-3"), same, "1.0e-5", true},
      // Nothing, or few digits, would be left of the weights.
      {"f16", before("multiply", "1.0e-3"), same, "1.0e-5", false},
      {"f16", before("multiply", "1.0e-3"), same, "1.0e-3", false},
      {"f16", none, after("multiply", "1.0e-3"), "1.0e-3", false},
      {"f16", none, after("divide", "1.0e+4"), "1.0e-3", false},
      {"bf16", before("multiply", "1.0e-25"), same, "1.0e-15", false},
      // A power of two leaves their digits.
      {"f16", before("multiply", "0.5"), same, "1.4305114746e-06", true},
      // They would be infinite.
      {"f16", before("multiply", "1.0e+3"), same, "1.0e+2", false},
      {"f16", none, after("divide", "1.0e-3"), "1.0e+2", false},
      {"bf16", before("multiply", "1.0e+30"), same, "1.0e+30", false},
      // The sum is rounded, or infinite, before the shift is made up for.
      {"f16", before("add", "2.0"), same, "0.5", true},
      {"f16", before("add", "-1.0e+3"), same, "1.0", false},
      {"bf16", before("subtract", "100.0"), same, "1.0", false},
      {"f32", before("add", "-1.0e+3"), same, "1.0", true},
      // The range of f32 is larger than that of the product.
      {"f16", none, widened("4.0"), "0.5", true},
      {"f16", none, widened("1.0e+4"), "0.5", false},
      {"f16", none, widened("1.0e-4"), "0.5", false},
      {"bf16", none, widened("1.0e+4"), "0.5", true},
  };
  for (const Case &test : cases) {
    bool isWide = test.after.find("convert") != std::string::npos;
    std::string text = moduleOf(test, isWide ? "f32" : test.element);
    Model model = parseModel(text);
    std::string as = textOf(model);
    applyPass(model, createFoldBatchNorm());
    EXPECT_EQ(as != textOf(model), test.folds) << text;
  }
}

// A product that is summed up in f32 up to its bias stays so: the chain behind
// goes before the conversion, with numbers that the narrow type holds.
TEST(FoldBatchNormHalf, AddsBeforeSumsAreRounded) {
  const std::string text =
      R"(func.func @main(%x: tensor<2x3xf16>) -> tensor<2x4xf16> {
    %k = stablehlo.constant dense<0.75> : tensor<3x4xf16>
    %b = stablehlo.constant dense<[0.5, 0.25, -0.5, 2.0]> : tensor<4xf16>
    %s = stablehlo.constant dense<[2.0, 0.5, 1.0, 3.0]> : tensor<4xf16>
    %t = stablehlo.constant dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf16>
    %p = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf32>
    %bf = stablehlo.convert %b : (tensor<4xf16>) -> tensor<4xf32>
    %bw = stablehlo.broadcast_in_dim %bf, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %a = stablehlo.add %p, %bw : tensor<2x4xf32>
    %h = stablehlo.convert %a : (tensor<2x4xf32>) -> tensor<2x4xf16>
    %sw = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf16>) -> tensor<2x4xf16>
    %tw = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<4xf16>) -> tensor<2x4xf16>
    %m = stablehlo.multiply %h, %sw : tensor<2x4xf16>
    %y = stablehlo.add %m, %tw : tensor<2x4xf16>
    return %y : tensor<2x4xf16>
  })";
  Model model = parseModel(text);
  const std::vector<Tensor> before = run(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(countOps(model, "stablehlo.multiply"), 0);
  EXPECT_EQ(countOps(model, "stablehlo.add"), 1);
  EXPECT_EQ(countOps(model, "stablehlo.convert"), 1);
  model.module().walk([&](stablehlo::AddOp op) {
    EXPECT_TRUE(tensorOf(op.getResult()).getElementType().isF32());
    auto bias = op.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>();
    ASSERT_TRUE(bias);
    const Tensor numbers = *constantTensor(bias.getOperand());
    // 0.5 * 2 + 0.1, as f16 holds it.
    EXPECT_EQ(numbers.toDouble(0), 1.099609375);
  });
  expectClose(before, run(model), 2e-3);
}

} // namespace
