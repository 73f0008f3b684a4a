// What takes and puts elements where indices say, with unknown dimensions:
// written to ONNX and read back it computes the same, whatever they are.
//
// Covers: formats/onnx/write Indexing

#include "TemporaryFolder.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/WriteOnnx.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"
#include <gtest/gtest.h>

using namespace sinter;

namespace {

struct Case {
  const char *name;
  const char *text;
  /// The inputs' shapes: one time, and another.
  std::vector<std::vector<Shape>> shapes;
};

const Case cases[] = {
    {"gather_rows",
     R"(func.func @main(%x: tensor<?x3xf32>, %i: tensor<?x1xi64>) -> tensor<?x3xf32> {
  %y = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>} : (tensor<?x3xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})",
     {{{5, 3}, {4, 1}}, {{2, 3}, {7, 1}}}},
    {"gather_windows",
     R"(func.func @main(%x: tensor<?x?xf32>, %i: tensor<?x2xi64>) -> tensor<?x2x1xf32> {
  %y = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>} : (tensor<?x?xf32>, tensor<?x2xi64>) -> tensor<?x2x1xf32>
  return %y : tensor<?x2x1xf32>
})",
     {{{5, 3}, {4, 2}}, {{2, 6}, {3, 2}}}},
    {"gather_batching",
     R"(func.func @main(%x: tensor<?x4xf32>, %i: tensor<?x2x1xi64>) -> tensor<?x2xf32> {
  %y = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>} : (tensor<?x4xf32>, tensor<?x2x1xi64>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})",
     {{{3, 4}, {3, 2, 1}}, {{5, 4}, {5, 2, 1}}}},
    {"scatter_rows",
     R"(func.func @main(%x: tensor<?x3xf32>, %i: tensor<?x1xi64>, %u: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<?x3xf32>, tensor<?x1xi64>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})",
     {{{5, 3}, {4, 1}, {4, 3}}, {{2, 3}, {6, 1}, {6, 3}}}},
    {"scatter_windows_of_unknown_size",
     R"(func.func @main(%x: tensor<?x?xf32>, %i: tensor<?x1xi64>, %u: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<?x?xf32>, tensor<?x1xi64>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
})",
     {{{5, 3}, {4, 1}, {4, 5}}, {{6, 4}, {2, 1}, {2, 3}}}},
    {"dynamic_slice",
     R"(func.func @main(%x: tensor<?x5xf32>, %i: tensor<1xi64>) -> tensor<2x5xf32> {
  %s = stablehlo.reshape %i : (tensor<1xi64>) -> tensor<i64>
  %y = stablehlo.dynamic_slice %x, %s, %s, sizes = [2, 5] : (tensor<?x5xf32>, tensor<i64>, tensor<i64>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
})",
     {{{3, 5}, {1}}, {{6, 5}, {1}}}},
    {"dynamic_update_slice",
     R"(func.func @main(%x: tensor<?x?xf32>, %i: tensor<1xi64>, %u: tensor<?x2xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.reshape %i : (tensor<1xi64>) -> tensor<i64>
  %y = stablehlo.dynamic_update_slice %x, %u, %s, %s : (tensor<?x?xf32>, tensor<?x2xf32>, tensor<i64>, tensor<i64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
})",
     {{{3, 5}, {1}, {1, 2}}, {{6, 4}, {1}, {4, 2}}}},
};

class WriteDynamicIndexing : public testing::TestWithParam<Case> {};

TEST_P(WriteDynamicIndexing, ComputesTheSame) {
  const Case &given = GetParam();
  auto context = makeContext();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(given.text, context.get());
  ASSERT_TRUE(module);
  const Model model(context, std::move(module));
  sinter::test::TemporaryFolder folder;
  auto written = writeOnnx(model, folder.file("model.onnx"));
  ASSERT_TRUE(written) << written.error().message();
  auto back = readOnnx(folder.file("model.onnx"));
  ASSERT_TRUE(back) << back.error().message();
  for (const std::vector<Shape> &shapes : given.shapes)
    // Indices inside and outside.
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      std::vector<Tensor> inputs;
      for (auto [spec, shape] : llvm::zip_equal(model.inputs(), shapes)) {
        inputs.emplace_back(spec.type, shape);
        fillRandom(inputs.back(), seed * 10 + inputs.size(), {-2, 6, 1});
      }
      auto expected = interpret(model.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message();
      auto got = interpret(back->entry(), inputs);
      ASSERT_TRUE(got) << got.error().message();
      ASSERT_EQ((*got)[0].shape(), (*expected)[0].shape());
      for (int64_t i = 0; i < (*got)[0].size(); ++i)
        ASSERT_FLOAT_EQ((*got)[0].toDouble(i), (*expected)[0].toDouble(i))
            << "seed " << seed << ", element " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, WriteDynamicIndexing, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

} // namespace
