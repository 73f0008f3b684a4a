// StableHLO operations that others can express give the same values whole, as
// the oracle computes them from their definitions, and decomposed.
//
// Covers: graph/stablehlo Decompose DecomposeDeprecated DecomposeDynamic
// Covers: graph/stablehlo ElementOrder

#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

struct StablehloCase {
  const char *name;
  const char *arguments; ///< types, separated by ';', called %0, %1, ...
  const char *before;    ///< operations that stay
  const char *op;        ///< gives %r
  const char *results;   ///< types, separated by ';'
};

const char conv[] = R"("stablehlo.dynamic_conv"(%0, %1, %p) {
    window_strides = array<i64: 2, 1>, lhs_dilation = array<i64: 1, 2>,
    rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, true>,
    dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<1x2x5x4xf32>, tensor<3x2x2x3xf32>, tensor<2x2xi64>)
    -> tensor<1x3x3x8xf32>)";
const char select[] = R"("stablehlo.map"(%0, %1) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      %d = stablehlo.multiply %a, %c : tensor<f32>
      %e = stablehlo.compare LT, %d, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %f = stablehlo.select %e, %outer, %d : tensor<i1>, tensor<f32>
      stablehlo.return %f : tensor<f32>
    }) {dimensions = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)";

const StablehloCase stablehloCases[] = {
    {"broadcast", "3xf32", "",
     "stablehlo.broadcast %0, sizes = [2, 4] : (tensor<3xf32>) -> "
     "tensor<2x4x3xf32>",
     "2x4x3xf32"},
    {"dot", "3x4xf32;4x2xf32", "",
     "stablehlo.dot %0, %1 : (tensor<3x4xf32>, tensor<4x2xf32>) -> "
     "tensor<3x2xf32>",
     "3x2xf32"},
    {"dot_vector", "3x4xf32;4xf32", "",
     "stablehlo.dot %0, %1, precision = [HIGH, HIGH] : (tensor<3x4xf32>, "
     "tensor<4xf32>) -> tensor<3xf32>",
     "3xf32"},
    {"einsum", "2x3x4xf32;2x4x5xf32", "",
     "stablehlo.einsum %0, %1, config = \"bij,bjk->bki\" : "
     "(tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>",
     "2x5x3xf32"},
    {"einsum_sums", "3x3xf32;3x2xf32", "",
     "stablehlo.einsum %0, %1, config = \"ii,ij->j\" : (tensor<3x3xf32>, "
     "tensor<3x2xf32>) -> tensor<2xf32>",
     "2xf32"},
    {"einsum_dots", "2x5x3x4xf32;5x4x2xf32", "",
     "stablehlo.einsum %0, %1, config = \"...ij,...jk->...ik\" : "
     "(tensor<2x5x3x4xf32>, tensor<5x4x2xf32>) -> tensor<2x5x3x2xf32>",
     "2x5x3x2xf32"},
    {"unary_einsum_dots", "2x5x3xf32", "",
     "stablehlo.unary_einsum %0, config = \"i...->...i\" : "
     "(tensor<2x5x3xf32>) -> tensor<5x3x2xf32>",
     "5x3x2xf32"},
    {"einsum_outer", "3x4xf32;2xf32", "",
     "stablehlo.einsum %0, %1, config = \"ij,k->ki\" : (tensor<3x4xf32>, "
     "tensor<2xf32>) -> tensor<2x3xf32>",
     "2x3xf32"},
    {"unary_einsum", "2x3x2xf32", "",
     "stablehlo.unary_einsum %0, config = \"iji->ji\" : (tensor<2x3x2xf32>) "
     "-> tensor<3x2xf32>",
     "3x2xf32"},
    {"unary_einsum_sum", "2x3xf32", "",
     "stablehlo.unary_einsum %0, config = \"ij->\" : (tensor<2x3xf32>) -> "
     "tensor<f32>",
     "f32"},
    {"torch_index_select", "2x5x3xf32",
     "%i = stablehlo.constant dense<[[4, 0, 1, 1], [2, 3, 0, 4]]> : "
     "tensor<2x4xi32>",
     "\"stablehlo.torch_index_select\"(%0, %i) {dim = 1 : i64, batch_dims = 1 "
     ": i64} : (tensor<2x5x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>",
     "2x4x3xf32"},
    {"torch_index_select_last", "2x5xf32",
     "%i = stablehlo.constant dense<[[4, 0], [1, 1]]> : tensor<2x2xi64>",
     "\"stablehlo.torch_index_select\"(%0, %i) {dim = -1 : i64, batch_dims = "
     "0 : i64} : (tensor<2x5xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>",
     "2x2x2xf32"},
    {"batch_norm_training", "4x3x2xf32;3xf32;3xf32", "",
     "\"stablehlo.batch_norm_training\"(%0, %1, %2) {epsilon = 0.01 : f32, "
     "feature_index = 1 : i64} : (tensor<4x3x2xf32>, tensor<3xf32>, "
     "tensor<3xf32>) -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)",
     "4x3x2xf32;3xf32;3xf32"},
    {"batch_norm_grad", "4x3x2xf32;3xf32;3xf32;4x3x2xf32",
     "%v = stablehlo.constant dense<[0.5, 1.0, 2.0]> : tensor<3xf32>",
     "\"stablehlo.batch_norm_grad\"(%0, %1, %2, %v, %3) {epsilon = 0.01 : "
     "f32, feature_index = 1 : i64} : (tensor<4x3x2xf32>, tensor<3xf32>, "
     "tensor<3xf32>, tensor<3xf32>, tensor<4x3x2xf32>) -> "
     "(tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)",
     "4x3x2xf32;3xf32;3xf32"},
    {"dynamic_iota", "2xf32",
     "%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>",
     "stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<2x3xf32>",
     "2x3xf32"},
    {"dynamic_broadcast_in_dim", "3x1xf32",
     "%s = stablehlo.constant dense<[2, 3, 4]> : tensor<3xi64>",
     "stablehlo.dynamic_broadcast_in_dim %0, %s, dims = [1, 2] : "
     "(tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>",
     "2x3x4xf32"},
    {"dynamic_reshape", "3x4xf32",
     "%s = stablehlo.constant dense<[2, 6]> : tensor<2xi64>",
     "stablehlo.dynamic_reshape %0, %s : (tensor<3x4xf32>, tensor<2xi64>) -> "
     "tensor<2x6xf32>",
     "2x6xf32"},
    {"real_dynamic_slice", "6x5xf32",
     "%a = stablehlo.constant dense<[1, 0]> : tensor<2xi32>\n"
     "%b = stablehlo.constant dense<[6, 4]> : tensor<2xi32>\n"
     "%c = stablehlo.constant dense<[2, 3]> : tensor<2xi32>",
     "stablehlo.real_dynamic_slice %0, %a, %b, %c : (tensor<6x5xf32>, "
     "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>",
     "3x2xf32"},
    {"real_dynamic_slice_place", "6x5xf32",
     "%n = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
     "%a = stablehlo.add %n, %n : tensor<2xi32>\n"
     "%b = stablehlo.constant dense<[5, 5]> : tensor<2xi32>\n"
     "%c = stablehlo.constant dense<1> : tensor<2xi32>",
     "stablehlo.real_dynamic_slice %0, %a, %b, %c : (tensor<6x5xf32>, "
     "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x1xf32>",
     "3x1xf32"},
    {"dynamic_pad", "2x3xf32;f32",
     "%a = stablehlo.constant dense<[1, -1]> : tensor<2xi64>\n"
     "%b = stablehlo.constant dense<[0, 2]> : tensor<2xi64>\n"
     "%c = stablehlo.constant dense<[1, 0]> : tensor<2xi64>",
     "stablehlo.dynamic_pad %0, %1, %a, %b, %c : (tensor<2x3xf32>, "
     "tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> "
     "tensor<4x4xf32>",
     "4x4xf32"},
    {"dynamic_gather", "4x5xf32",
     "%i = stablehlo.constant dense<[[2, 1], [0, 3], [3, 4]]> : "
     "tensor<3x2xi64>\n"
     "%s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>",
     "\"stablehlo.dynamic_gather\"(%0, %i, %s) {dimension_numbers = "
     "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
     "start_index_map = [0, 1], index_vector_dim = 1>} : (tensor<4x5xf32>, "
     "tensor<3x2xi64>, tensor<2xi64>) -> tensor<3x2xf32>",
     "3x2xf32"},
    {"dynamic_conv", "1x2x5x4xf32;3x2x2x3xf32",
     "%p = stablehlo.constant dense<[[1, 0], [2, 1]]> : tensor<2x2xi64>", conv,
     "1x3x3x8xf32"},
    {"map", "2x3xf32;2x3xf32",
     "%outer = stablehlo.constant dense<5.0> : tensor<f32>", select, "2x3xf32"},
};

SmallVector<StringRef> typesOf(StringRef list) {
  SmallVector<StringRef> parts;
  list.split(parts, ';');
  return parts;
}

std::string moduleOfCase(const StablehloCase &test) {
  std::string arguments, results, names;
  for (auto [i, type] : llvm::enumerate(typesOf(test.arguments)))
    arguments +=
        (i ? ", %" : "%") + std::to_string(i) + ": tensor<" + type.str() + ">";
  size_t count = 0;
  for (StringRef type : typesOf(test.results)) {
    results += (count ? ", tensor<" : "tensor<") + type.str() + ">";
    names += (count ? ", %r#" : "%r#") + std::to_string(count);
    ++count;
  }
  return "func.func @main(" + arguments + ") -> (" + results + ") {\n" +
         test.before + "\n%r:" + std::to_string(count) + " = " + test.op +
         "\nreturn " + names + " : " + results + "\n}";
}

class DecomposeStablehlo : public testing::TestWithParam<StablehloCase> {};

TEST_P(DecomposeStablehlo, GivesTheSameValues) {
  std::shared_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(moduleOfCase(GetParam()), context.get());
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  std::vector<Tensor> inputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    inputs.emplace_back(ElementType::F32,
                        Shape(cast<RankedTensorType>(type).getShape()));
    fillRandom(inputs.back(), i + 1);
  }
  auto whole = interpret(function, inputs);
  ASSERT_TRUE(whole) << whole.error().message();
  SmallVector<DecomposableOpInterface> ops;
  function.walk([&](DecomposableOpInterface op) { ops.push_back(op); });
  ASSERT_EQ(ops.size(), 1u);
  OpBuilder builder(ops[0]);
  auto values = ops[0].decompose(builder);
  ASSERT_TRUE(succeeded(values));
  ops[0]->replaceAllUsesWith(*values);
  ops[0]->erase();
  ASSERT_TRUE(succeeded(verify(*module)));
  auto built = interpret(function, inputs);
  ASSERT_TRUE(built) << built.error().message();
  ASSERT_EQ(whole->size(), built->size());
  for (auto [expected, got] : llvm::zip_equal(*whole, *built)) {
    ASSERT_EQ(expected.shape(), got.shape());
    for (int64_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(expected.toDouble(i), got.toDouble(i),
                  1e-5 * (1 + std::abs(expected.toDouble(i))))
          << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Stablehlo, DecomposeStablehlo,
                         testing::ValuesIn(stablehloCases),
                         [](const auto &test) {
                           return std::string(test.param.name);
                         });

/// What \p text is built from, as text.
std::string decomposed(const std::string &text) {
  std::shared_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    return "";
  SmallVector<DecomposableOpInterface> ops;
  module->walk([&](DecomposableOpInterface op) { ops.push_back(op); });
  for (DecomposableOpInterface op : ops) {
    OpBuilder builder(op);
    auto values = op.decompose(builder);
    if (failed(values))
      return "";
    op->replaceAllUsesWith(*values);
    op->erase();
  }
  std::string result;
  llvm::raw_string_ostream os(result);
  if (succeeded(verify(*module)))
    module->print(os);
  return result;
}

TEST(DecomposeDistribution, SumsByAllReduce) {
  std::string text = decomposed(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = "stablehlo.cross-replica-sum"(%x)
          {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
          : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })");
  EXPECT_NE(text.find("stablehlo.all_reduce"), std::string::npos);
  EXPECT_NE(text.find("stablehlo.add"), std::string::npos);
}

TEST(DecomposeDistribution, MakesTokensByAfterAll) {
  std::string text = decomposed(R"(
    func.func @main() -> !stablehlo.token {
      %0 = stablehlo.create_token : !stablehlo.token
      return %0 : !stablehlo.token
    })");
  EXPECT_NE(text.find("stablehlo.after_all"), std::string::npos);
}

} // namespace
