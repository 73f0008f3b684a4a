// What the oracle computes, folding does too: one operation of each kind.

#include "passes/FoldConstants.h"

#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

struct FoldCase {
  const char *name;
  /// From %x : 2x3xf32, %y : 3x2xf32, %i : 2x1xi32, %s : f32 to %r.
  const char *text;
  const char *type;
};

const FoldCase cases[] = {
    {"dot",
     "%r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
     "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
     "tensor<2x2xf32>"},
    {"convolution",
     "%a = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<1x2x3xf32>\n"
     "%k = stablehlo.reshape %y : (tensor<3x2xf32>) -> tensor<3x2x1xf32>\n"
     "%r = stablehlo.convolution(%a, %k) dim_numbers = "
     "[b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64,"
     " feature_group_count = 1 : i64} : (tensor<1x2x3xf32>, tensor<3x2x1xf32>) "
     "-> tensor<1x3x3xf32>",
     "tensor<1x3x3xf32>"},
    {"reduce",
     "%r = stablehlo.reduce(%x init: %s) across dimensions = [1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n"
     "reducer(%a: tensor<f32>, %b: tensor<f32>) {\n"
     "  %c = stablehlo.multiply %a, %b : tensor<f32>\n"
     "  %d = stablehlo.add %c, %a : tensor<f32>\n"
     "  stablehlo.return %d : tensor<f32>\n}",
     "tensor<2xf32>"},
    {"reduce_window",
     "%r = \"stablehlo.reduce_window\"(%x, %s) <{window_dimensions = "
     "array<i64: 1, 2>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "  %c = stablehlo.add %a, %b : tensor<f32>\n"
     "  stablehlo.return %c : tensor<f32>\n}) : (tensor<2x3xf32>, tensor<f32>) "
     "-> tensor<2x2xf32>",
     "tensor<2x2xf32>"},
    // How many elements each window of an average meets.
    {"window_counts",
     "%one = stablehlo.constant dense<1.0> : tensor<f32>\n"
     "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> "
     "tensor<4x4xf32>\n"
     "%r = \"stablehlo.reduce_window\"(%ones, %zero) <{window_dimensions = "
     "array<i64: 3, 3>, padding = dense<1> : tensor<2x2xi64>}> ({\n"
     "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "  %c = stablehlo.add %a, %b : tensor<f32>\n"
     "  stablehlo.return %c : tensor<f32>\n}) : (tensor<4x4xf32>, tensor<f32>) "
     "-> tensor<4x4xf32>",
     "tensor<4x4xf32>"},
    {"gather",
     "%r = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
     "start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> "
     "tensor<2x3xf32>",
     "tensor<2x3xf32>"},
    {"scatter",
     "%r = \"stablehlo.scatter\"(%x, %i, %x) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
     "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "  %c = stablehlo.add %a, %b : tensor<f32>\n"
     "  stablehlo.return %c : tensor<f32>\n}) : (tensor<2x3xf32>, "
     "tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
     "tensor<2x3xf32>"},
    {"pad",
     "%r = stablehlo.pad %x, %s, low = [1, 0], high = [0, 2], interior = [1, 0]"
     " : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32>",
     "tensor<4x5xf32>"},
    {"sort",
     "%r = \"stablehlo.sort\"(%x) <{dimension = 1 : i64}> ({\n"
     "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     "  %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\n"
     "  stablehlo.return %c : tensor<i1>\n}) : (tensor<2x3xf32>) -> "
     "tensor<2x3xf32>",
     "tensor<2x3xf32>"},
    {"complex",
     "%c = stablehlo.complex %x, %x : tensor<2x3xcomplex<f32>>\n"
     "%d = stablehlo.multiply %c, %c : tensor<2x3xcomplex<f32>>\n"
     "%r = stablehlo.exponential %d : tensor<2x3xcomplex<f32>>",
     "tensor<2x3xcomplex<f32>>"},
    {"transpose",
     "%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> "
     "tensor<3x2xf32>\n"
     "%r = stablehlo.concatenate %t, %y, dim = 0 : (tensor<3x2xf32>, "
     "tensor<3x2xf32>) -> tensor<6x2xf32>",
     "tensor<6x2xf32>"},
    {"convert",
     "%h = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xbf16>\n"
     "%r = stablehlo.tanh %h : tensor<2x3xbf16>",
     "tensor<2x3xbf16>"},
    {"clamp_compare_select",
     "%a = stablehlo.negate %x : tensor<2x3xf32>\n"
     "%p = stablehlo.compare LT, %a, %x : (tensor<2x3xf32>, tensor<2x3xf32>) "
     "-> tensor<2x3xi1>\n"
     "%b = stablehlo.select %p, %a, %x : tensor<2x3xi1>, tensor<2x3xf32>\n"
     "%r = stablehlo.clamp %b, %x, %x : tensor<2x3xf32>",
     "tensor<2x3xf32>"},
    {"while",
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%w:2 = stablehlo.while(%n = %zero, %v = %x) : tensor<i32>, "
     "tensor<2x3xf32>\ncond {\n"
     "  %m = stablehlo.constant dense<3> : tensor<i32>\n"
     "  %p = stablehlo.compare LT, %n, %m : (tensor<i32>, tensor<i32>) -> "
     "tensor<i1>\n  stablehlo.return %p : tensor<i1>\n} do {\n"
     "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
     "  %j = stablehlo.add %n, %one : tensor<i32>\n"
     "  %u = stablehlo.add %v, %v : tensor<2x3xf32>\n"
     "  stablehlo.return %j, %u : tensor<i32>, tensor<2x3xf32>\n}\n"
     "%r = stablehlo.negate %w#1 : tensor<2x3xf32>",
     "tensor<2x3xf32>"},
};

std::string textOfCase(const FoldCase &each) {
  return fill("func.func @main() -> $type {\n"
              "%x = stablehlo.constant dense<[[1.5, -2.0, 3.0], [0.5, 4.0, "
              "-1.0]]> : tensor<2x3xf32>\n"
              "%y = stablehlo.constant dense<[[1.0, 2.0], [-3.0, 0.25], [0.0, "
              "5.0]]> : tensor<3x2xf32>\n"
              "%i = stablehlo.constant dense<[[1], [0]]> : tensor<2x1xi32>\n"
              "%s = stablehlo.constant dense<2.0> : tensor<f32>\n"
              "$body\n  return %r : $type\n}",
              {{"body", each.text}, {"type", each.type}});
}

class FoldEach : public testing::TestWithParam<FoldCase> {};

TEST_P(FoldEach, LeavesAConstant) {
  const Model model = parseModel(textOfCase(GetParam()));
  const Model folded = model.clone();
  applyPass(folded, createFoldConstants());
  // What only repeats elements stays where it was.
  mlir::Operation *end = folded.entry().front().getTerminator();
  EXPECT_TRUE(constantTensor(end->getOperand(0))) << textOf(folded);
  EXPECT_TRUE(sameBits(run(model), run(folded)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, FoldEach, testing::ValuesIn(cases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(FoldConstants, LeavesBarriersAlone) {
  const Model model =
      parseModel("func.func @main() -> tensor<2xf32> {\n"
                 "%x = stablehlo.constant dense<2.0> : tensor<2xf32>\n"
                 "%b = stablehlo.optimization_barrier %x : tensor<2xf32>\n"
                 "%r = stablehlo.negate %b : tensor<2xf32>\n"
                 "return %r : tensor<2xf32>\n}");
  applyPass(model, createFoldConstants());
  EXPECT_EQ(countComputations(model), 2) << textOf(model);
}

TEST(FoldConstants, EqualElementsStaySmall) {
  const Model model =
      parseModel("func.func @main() -> tensor<300x300xf32> {\n"
                 "%x = stablehlo.constant dense<2.0> : tensor<300x300xf32>\n"
                 "%r = stablehlo.negate %x : tensor<300x300xf32>\n"
                 "return %r : tensor<300x300xf32>\n}");
  applyPass(model, createFoldConstants());
  EXPECT_EQ(countComputations(model), 0);
  EXPECT_NE(textOf(model).find("dense<-2.0"), std::string::npos);
}

} // namespace
