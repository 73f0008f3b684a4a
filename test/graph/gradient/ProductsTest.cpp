// Gradients of products.

#include "graph/gradient/FiniteDifferences.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

namespace {
void checkConvolution(const std::string &lhs, const std::string &rhs,
                      const std::string &result, const std::string &numbers,
                      const std::string &window,
                      const std::string &groups = "1",
                      const std::string &batchGroups = "1") {
  check("(%x: " + lhs + ", %k: " + rhs + ") -> " + result +
        " { %y = stablehlo.convolution(%x, %k) dim_numbers = " + numbers +
        ", window = {" + window + "} {batch_group_count = " + batchGroups +
        " : i64, feature_group_count = " + groups + " : i64} : (" + lhs + ", " +
        rhs + ") -> " + result + "\n return %y : " + result + " }");
}
} // namespace

TEST(Gradient, OfProducts) {
  check(R"((%a: tensor<3x4xf64>, %b: tensor<4x2xf64>) -> tensor<3x2xf64> {
    %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<3x4xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
    return %y : tensor<3x2xf64> })");
  // Contracted and batching dimensions in another order on each side.
  check(
      R"((%a: tensor<4x2x3x5xf64>, %b: tensor<5x6x4x2xf64>) -> tensor<2x3x6xf64> {
    %y = stablehlo.dot_general %a, %b, batching_dims = [1] x [3], contracting_dims = [0, 3] x [2, 0]
        : (tensor<4x2x3x5xf64>, tensor<5x6x4x2xf64>) -> tensor<2x3x6xf64>
    return %y : tensor<2x3x6xf64> })");
}

TEST(Gradient, OfConvolutions) {
  const std::string nchw = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";
  const std::string nhwc = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  checkConvolution("tensor<2x2x5x4xf64>", "tensor<3x2x3x2xf64>",
                   "tensor<2x3x3x5xf64>", nchw,
                   "stride = [2, 1], pad = [[1, 1], [0, 2]]");
  checkConvolution("tensor<1x5x6x2xf64>", "tensor<2x2x2x3xf64>",
                   "tensor<1x3x4x3xf64>", nhwc, "rhs_dilate = [2, 2]");
  checkConvolution("tensor<1x1x3x3xf64>", "tensor<2x1x3x3xf64>",
                   "tensor<1x2x5x5xf64>", nchw,
                   "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], reverse = "
                   "[true, false]");
  checkConvolution("tensor<1x4x4x4xf64>", "tensor<6x2x2x2xf64>",
                   "tensor<1x6x3x3xf64>", nchw, "", "2");
  checkConvolution("tensor<2x4x4x4xf64>", "tensor<4x1x3x3xf64>",
                   "tensor<2x4x2x2xf64>", nchw,
                   "stride = [2, 2], pad = [[1, 1], [1, 0]]", "4");
  checkConvolution("tensor<4x2x3x3xf64>", "tensor<4x2x2x2xf64>",
                   "tensor<2x4x2x2xf64>", nchw, "", "1", "2");
}

/// Products of narrow numbers that are wider than these, as those of Gemm and
/// Conv with a bias: the gradients are those of the product of wide numbers,
/// rounded.
TEST(Gradient, OfLowBitProductsThatAreWide) {
  const struct {
    std::string x, w, y, op;
  } cases[] = {
      {"3x4", "4x2", "3x2",
       "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"},
      {"2x2x5x5", "4x1x3x3", "2x4x2x2",
       "stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, "
       "1]->[b, f, 0, 1], window = {stride = [2, 2]} {batch_group_count = 1 : "
       "i64, feature_group_count = 2 : i64}"}};
  for (const auto &[x, w, y, op] : cases)
    for (const std::string narrow : {"f16", "bf16"})
      // Whether what comes back was narrow.
      for (const bool isRounded : {false, true}) {
        SCOPED_TRACE(op + narrow);
        auto of = [](const std::string &shape, const std::string &element) {
          return "tensor<" + shape + "x" + element + ">";
        };
        const std::string result = of(y, isRounded ? narrow : "f32");
        auto gradients = [&](bool isWide) {
          const std::string element = isWide ? "f32" : narrow;
          std::string text = "func.func @main(%x: " + of(x, narrow) +
                             ", %w: " + of(w, narrow) + ") -> " + result +
                             " {\n";
          for (const auto &[name, from, shape] :
               {std::tuple("%a", "%x", &x), std::tuple("%b", "%w", &w)})
            text += std::string(name) + " = stablehlo.convert " + from +
                    " : (" + of(*shape, narrow) + ") -> " +
                    of(*shape, element) + "\n";
          text += "%p = " + op + " : (" + of(x, element) + ", " +
                  of(w, element) + ") -> " + of(y, "f32") +
                  "\n%y = stablehlo.convert %p : (" + of(y, "f32") + ") -> " +
                  result + "\nreturn %y : " + result + " }";
          Model model = parse(text);
          EXPECT_TRUE(model.module());
          std::vector<Tensor> inputs,
              weights = {randomOf(model.entry().getResultTypes()[0], 70, {})};
          for (Type type : model.entry().getArgumentTypes())
            inputs.push_back(randomOf(type, 1 + inputs.size(), {}));
          EXPECT_TRUE(succeeded(differentiate(model, weights)));
          EXPECT_TRUE(succeeded(mlir::verify(model.module())));
          auto got = interpret(model.entry(), inputs);
          EXPECT_TRUE(got) << (got ? "" : got.error().message());
          return got ? std::move(*got) : std::vector<Tensor>();
        };
        const std::vector<Tensor> got = gradients(false),
                                  want = gradients(true);
        ASSERT_EQ(got.size(), 2u);
        ASSERT_EQ(want.size(), 2u);
        for (int k : {0, 1})
          for (int64_t i = 0; i < got[k].size(); ++i)
            EXPECT_EQ(got[k].toDouble(i), want[k].toDouble(i))
                << "operand " << k << ", element " << i;
      }
}
