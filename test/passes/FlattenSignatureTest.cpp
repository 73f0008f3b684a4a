#include "passes/FlattenSignature.h"
#include "mlir/IR/Verifier.h"

#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

std::vector<std::string> namesOf(const std::vector<TensorSpec> &specs) {
  std::vector<std::string> names;
  for (const TensorSpec &spec : specs)
    names.push_back(spec.name);
  return names;
}

} // namespace

TEST(FlattenSignature, TuplesBecomeTheirPartsAndTokensGo) {
  Model model = parseModel(R"(
func.func @main(%a: tensor<2xf32>,
    %t: tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>> {sinter.name = "pair"},
    %k: !stablehlo.token, %z: tensor<i32>)
    -> (tuple<tensor<2xf32>, tuple<tensor<i32>>>, !stablehlo.token, tensor<2xf32> {sinter.name = "sum"}) {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tensor<2xf32>
  %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<tensor<i32>, !stablehlo.token>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<i32>, !stablehlo.token>) -> tensor<i32>
  %3 = stablehlo.add %a, %0 : tensor<2xf32>
  %4 = stablehlo.subtract %2, %z : tensor<i32>
  %5 = stablehlo.tuple %4 : tuple<tensor<i32>>
  %6 = stablehlo.tuple %3, %5 : tuple<tensor<2xf32>, tuple<tensor<i32>>>
  return %6, %k, %3 : tuple<tensor<2xf32>, tuple<tensor<i32>>>, !stablehlo.token, tensor<2xf32>
})");
  ASSERT_TRUE(hasSignatureToFlatten(model));
  flattenSignature(model);
  ASSERT_TRUE(succeeded(mlir::verify(model.module())));
  EXPECT_FALSE(hasSignatureToFlatten(model));
  EXPECT_EQ(
      namesOf(model.inputs()),
      (std::vector<std::string>{"arg0", "pair[0]", "pair[1][0]", "arg3"}));
  EXPECT_EQ(namesOf(model.outputs()),
            (std::vector<std::string>{"result0[0]", "result0[1][0]", "sum"}));
  const float a[] = {1, 2}, b[] = {10, 20};
  const int32_t c[] = {7}, d[] = {4};
  auto outputs =
      interpret(model.entry(), {Tensor::of<float>(ElementType::F32, {2}, a),
                                Tensor::of<float>(ElementType::F32, {2}, b),
                                Tensor::of<int32_t>(ElementType::I32, {}, c),
                                Tensor::of<int32_t>(ElementType::I32, {}, d)});
  ASSERT_TRUE(outputs) << outputs.error().message();
  EXPECT_EQ((*outputs)[0].toDouble(1), 22);
  EXPECT_EQ((*outputs)[1].toInteger(0), 3);
  EXPECT_EQ((*outputs)[2].toDouble(0), 11);
}

TEST(FlattenSignature, LeavesTheRestAlone) {
  Model model = parseModel(R"(
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
})");
  EXPECT_FALSE(hasSignatureToFlatten(model));
  flattenSignature(model);
  EXPECT_FALSE(model.entry().getArgAttr(0, nameAttribute));

  Model recursive = parseModel(R"(
func.func @main(%t: tuple<tensor<i32>>) -> tuple<tensor<i32>> {
  %0 = call @main(%t) : (tuple<tensor<i32>>) -> tuple<tensor<i32>>
  return %0 : tuple<tensor<i32>>
})");
  EXPECT_FALSE(hasSignatureToFlatten(recursive));
}
