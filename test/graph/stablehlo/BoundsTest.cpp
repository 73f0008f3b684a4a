// What operations make of the bounds on their operands' sizes.
//
// Covers: graph Bounds

#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

struct Case {
  const char *name;
  const char *arguments; ///< of the function, "%a: type, ..."
  const char *op;        ///< without "%r =", of results that may be anything
  const char *inferred;  ///< the type of its first result
};

const char sum[] = R"(({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
}))";

const Case cases[] = {
    {"elementwise",
     "%a: tensor<3x3x3x?x?x?xf32, #stablehlo.bounds<?, ?, ?, ?, ?, 3>>, "
     "%b: tensor<3x?x?x?x?x?xf32, #stablehlo.bounds<?, ?, 4, ?, 3, 4>>",
     R"("stablehlo.add"(%a, %b) :
     (tensor<3x3x3x?x?x?xf32, #stablehlo.bounds<?, ?, ?, ?, ?, 3>>,
      tensor<3x?x?x?x?x?xf32, #stablehlo.bounds<?, ?, 4, ?, 3, 4>>)
     -> tensor<?x?x?x?x?x?xf32>)",
     "tensor<3x3x3x?x?x?xf32, #stablehlo.bounds<?, ?, ?, ?, 3, 3>>"},
    {"compare",
     "%a: tensor<?xf32, #stablehlo.bounds<5>>, "
     "%b: tensor<?xf32, #stablehlo.bounds<4>>",
     R"(stablehlo.compare LT, %a, %b : (tensor<?xf32, #stablehlo.bounds<5>>,
     tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xi1>)",
     "tensor<?xi1, #stablehlo.bounds<4>>"},
    {"select",
     "%p: tensor<i1>, %a: tensor<?x2x?xf32, #stablehlo.bounds<5, ?, 7>>, "
     "%b: tensor<1x?x?xf32, #stablehlo.bounds<?, 6, 8>>",
     R"("stablehlo.select"(%p, %a, %b) : (tensor<i1>,
     tensor<?x2x?xf32, #stablehlo.bounds<5, ?, 7>>,
     tensor<1x?x?xf32, #stablehlo.bounds<?, 6, 8>>) -> tensor<?x?x?xf32>)",
     "tensor<1x2x?xf32, #stablehlo.bounds<?, ?, 7>>"},
    {"transpose", "%a: tensor<?x2x?x4xi32, #stablehlo.bounds<1, ?, 3, ?>>",
     R"(stablehlo.transpose %a, dims = [1, 0, 3, 2] :
     (tensor<?x2x?x4xi32, #stablehlo.bounds<1, ?, 3, ?>>)
     -> tensor<?x?x?x?xi32>)",
     "tensor<2x?x4x?xi32, #stablehlo.bounds<?, 1, ?, 3>>"},
    {"slice", "%a: tensor<3x?x?xi32, #stablehlo.bounds<?, 4, ?>>",
     R"(stablehlo.slice %a [1:2, 0:4:2, 0:4:2] :
     (tensor<3x?x?xi32, #stablehlo.bounds<?, 4, ?>>) -> tensor<?x?x?xi32>)",
     "tensor<1x2x2xi32>"},
    {"pad",
     "%a: tensor<3x?x?xf16, #stablehlo.bounds<?, 3, ?>>, %v: tensor<f16>",
     R"(stablehlo.pad %a, %v, low = [2, 2, 0], high = [0, 0, 0],
     interior = [1, 1, 1] : (tensor<3x?x?xf16, #stablehlo.bounds<?, 3, ?>>,
     tensor<f16>) -> tensor<?x?x?xf16>)",
     "tensor<7x?x?xf16, #stablehlo.bounds<?, 7, ?>>"},
    {"concatenate_size",
     "%a: tensor<5x2xi32>, %b: tensor<5x?xi32, #stablehlo.bounds<?, 4>>",
     R"(stablehlo.concatenate %a, %b, dim = 1 : (tensor<5x2xi32>,
     tensor<5x?xi32, #stablehlo.bounds<?, 4>>) -> tensor<?x?xi32>)",
     "tensor<5x?xi32, #stablehlo.bounds<?, 6>>"},
    {"concatenate_bounds",
     "%a: tensor<?x?xi32, #stablehlo.bounds<6, 3>>, "
     "%b: tensor<?x?xi32, #stablehlo.bounds<5, 4>>",
     R"(stablehlo.concatenate %a, %b, dim = 1 :
     (tensor<?x?xi32, #stablehlo.bounds<6, 3>>,
      tensor<?x?xi32, #stablehlo.bounds<5, 4>>) -> tensor<?x?xi32>)",
     "tensor<?x?xi32, #stablehlo.bounds<5, 7>>"},
    {"concatenate_unbounded",
     "%a: tensor<5x?xi32>, %b: tensor<5x?xi32, #stablehlo.bounds<?, 4>>",
     R"(stablehlo.concatenate %a, %b, dim = 1 : (tensor<5x?xi32>,
     tensor<5x?xi32, #stablehlo.bounds<?, 4>>) -> tensor<?x?xi32>)",
     "tensor<5x?xi32>"},
    {"all_to_all", "%a: tensor<16x?xf32, #stablehlo.bounds<?, 5>>",
     R"("stablehlo.all_to_all"(%a) {split_dimension = 0 : i64,
     concat_dimension = 1 : i64, split_count = 4 : i64,
     replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} :
     (tensor<16x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<?x?xf32>)",
     "tensor<4x?xf32, #stablehlo.bounds<?, 20>>"},
    {"gather",
     "%a: tensor<3x4x2xi32>, "
     "%i: tensor<?x?x2xi64, #stablehlo.bounds<32, 64, ?>>",
     R"("stablehlo.gather"(%a, %i) {
     dimension_numbers = #stablehlo.gather<offset_dims = [2],
       collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
       index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 2>} :
     (tensor<3x4x2xi32>, tensor<?x?x2xi64, #stablehlo.bounds<32, 64, ?>>)
     -> tensor<?x?x?xi32>)",
     "tensor<?x?x2xi32, #stablehlo.bounds<32, 64, ?>>"},
    {"fft", "%a: tensor<?x9xcomplex<f32>, #stablehlo.bounds<3, ?>>",
     R"(stablehlo.fft %a, type = FFT, length = [9] :
     (tensor<?x9xcomplex<f32>, #stablehlo.bounds<3, ?>>)
     -> tensor<?x?xcomplex<f32>>)",
     "tensor<?x9xcomplex<f32>, #stablehlo.bounds<3, ?>>"},
    {"rfft", "%a: tensor<3x?x?xf32, #stablehlo.bounds<?, 3, 10>>",
     R"(stablehlo.fft %a, type = RFFT, length = [9] :
     (tensor<3x?x?xf32, #stablehlo.bounds<?, 3, 10>>)
     -> tensor<?x?x?xcomplex<f32>>)",
     "tensor<3x?x5xcomplex<f32>, #stablehlo.bounds<?, 3, ?>>"},
    {"set_dimension_size",
     "%a: tensor<?x5xf32, #stablehlo.bounds<3, ?>>, "
     "%n: tensor<i32>",
     R"(stablehlo.set_dimension_size %a, %n, dim = 1 :
     (tensor<?x5xf32, #stablehlo.bounds<3, ?>>, tensor<i32>)
     -> tensor<?x?xf32>)",
     "tensor<?x?xf32, #stablehlo.bounds<3, 5>>"},
    {"broadcast", "%a: tensor<?xf32, #stablehlo.bounds<4>>",
     R"(stablehlo.broadcast %a, sizes = [2] :
     (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?x?xf32>)",
     "tensor<2x?xf32, #stablehlo.bounds<?, 4>>"},
    {"if",
     "%p: tensor<i1>, %a: tensor<2x3x?x?xf32, #stablehlo.bounds<?, ?, ?, 6>>, "
     "%b: tensor<2x?x?x?xf32, #stablehlo.bounds<?, 4, 5, 7>>",
     R"("stablehlo.if"(%p) ({
       stablehlo.return %a : tensor<2x3x?x?xf32, #stablehlo.bounds<?, ?, ?, 6>>
     }, {
       stablehlo.return %b : tensor<2x?x?x?xf32, #stablehlo.bounds<?, 4, 5, 7>>
     }) : (tensor<i1>) -> tensor<?x?x?x?xf32>)",
     "tensor<2x?x?x?xf32, #stablehlo.bounds<?, 4, ?, 7>>"},
    {"top_k", "%a: tensor<?x?xf32, #stablehlo.bounds<3, 8>>",
     R"(chlo.top_k(%a, k = 5) : tensor<?x?xf32, #stablehlo.bounds<3, 8>>
     -> (tensor<?x?xf32>, tensor<?x?xi32>))",
     "tensor<?x5xf32, #stablehlo.bounds<3, ?>>"},
    {"broadcast_add_scalar",
     "%a: tensor<?xf64, #stablehlo.bounds<10>>, %b: tensor<f64>",
     R"(chlo.broadcast_add %a, %b : (tensor<?xf64, #stablehlo.bounds<10>>,
     tensor<f64>) -> tensor<?xf64>)",
     "tensor<?xf64, #stablehlo.bounds<10>>"},
    {"broadcast_add_unbounded",
     "%a: tensor<?xf64, #stablehlo.bounds<10>>, %b: tensor<?xf64>",
     R"(chlo.broadcast_add %a, %b : (tensor<?xf64, #stablehlo.bounds<10>>,
     tensor<?xf64>) -> tensor<?xf64>)",
     "tensor<?xf64>"},
    {"broadcast_add_along",
     "%a: tensor<2x?xf64, #stablehlo.bounds<?, 10>>, %b: tensor<1xf64>",
     R"(chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} :
     (tensor<2x?xf64, #stablehlo.bounds<?, 10>>, tensor<1xf64>)
     -> tensor<?x?xf64>)",
     "tensor<2x?xf64, #stablehlo.bounds<?, 10>>"},
    {"broadcast_select",
     "%p: tensor<i1>, %a: tensor<?xf64, #stablehlo.bounds<10>>",
     R"(chlo.broadcast_select %p, %a, %a : (tensor<i1>,
     tensor<?xf64, #stablehlo.bounds<10>>,
     tensor<?xf64, #stablehlo.bounds<10>>) -> tensor<?xf64>)",
     "tensor<?xf64, #stablehlo.bounds<10>>"},
};

/// The type of the first result of the function's first operation, as it is
/// inferred.
std::string inferredType(const std::string &program) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(program, context.get());
  if (!module)
    return "does not parse";
  auto function = *module->getOps<func::FuncOp>().begin();
  Operation &op = function.front().front();
  SmallVector<Type> types;
  if (failed(cast<InferTypeOpInterface>(op).inferReturnTypes(
          context.get(), op.getLoc(), op.getOperands(),
          op.getDiscardableAttrDictionary(), op.getPropertiesStorage(),
          op.getRegions(), types)))
    return "is not inferred";
  std::string text;
  llvm::raw_string_ostream(text) << types.front();
  return text;
}

std::string programOf(const std::string &arguments, const std::string &op) {
  return "func.func @f(" + arguments + ") {\n" + op + "\nreturn }";
}

TEST(Bounds, AreInferred) {
  for (const Case &each : cases)
    EXPECT_EQ(inferredType(programOf(each.arguments, each.op)), each.inferred)
        << each.name;
}

TEST(Bounds, AreInferredOfReductions) {
  const std::string type = "tensor<4x?x?xf32, #stablehlo.bounds<?, 3, 5>>";
  const std::string arguments = "%a: " + type + ", %i: tensor<f32>";
  EXPECT_EQ(inferredType(programOf(
                arguments, "\"stablehlo.reduce\"(%a, %i) " + std::string(sum) +
                               "{dimensions = array<i64: 1>} : (" + type +
                               ", tensor<f32>) -> tensor<?x?xf32>")),
            "tensor<4x?xf32, #stablehlo.bounds<?, 5>>");
  EXPECT_EQ(
      inferredType(programOf(
          arguments,
          "\"stablehlo.reduce_window\"(%a, %i) " + std::string(sum) +
              "{window_dimensions = array<i64: 1, 2, 2>, window_strides = "
              "array<i64: 1, 1, 2>} : (" +
              type + ", tensor<f32>) -> tensor<?x?x?xf32>")),
      "tensor<4x?x?xf32, #stablehlo.bounds<?, 2, 2>>");
}

/// Statistics have one bound of the normalised tensor's.
TEST(Bounds, AreInferredOfStatistics) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(
      R"(func.func @f(%a: tensor<2x?xf32, #stablehlo.bounds<?, 4>>,
                      %s: tensor<?xf32>) {
        %r:3 = "stablehlo.batch_norm_training"(%a, %s, %s) {
          epsilon = 0.0 : f32, feature_index = 1 : i64} :
          (tensor<2x?xf32, #stablehlo.bounds<?, 4>>, tensor<?xf32>,
           tensor<?xf32>) -> (tensor<?x?xf32>,
           tensor<?xf32, #stablehlo.bounds<4>>, tensor<?xf32>)
        return })",
      context.get());
  EXPECT_TRUE(module);
}

} // namespace
