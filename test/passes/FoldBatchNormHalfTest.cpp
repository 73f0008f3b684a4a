// Folding in f16 and bf16 loses nothing that the graph keeps.

#include "passes/FoldBatchNorm.h"

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

} // namespace
