#include "passes/Freeze.h"

#include "graph/storage/Storage.h"
#include "mlir/IR/Verifier.h"
#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

TEST(Freeze, StatesBecomeConstants) {
  Model model = parseModel(R"(
func.func @main(%w: tensor<2xf32> {sinter.state = "w", sinter.initial = dense<[3.0, 4.0]> : tensor<2xf32>},
    %x: tensor<2xf32>) -> (tensor<2xf32> {sinter.state = "w"}, tensor<2xf32> {sinter.name = "y"}) {
  %y = stablehlo.multiply %x, %w : tensor<2xf32>
  %v = stablehlo.subtract %w, %y : tensor<2xf32>
  return %v, %y : tensor<2xf32>, tensor<2xf32>
})");
  applyPass(model, createFreeze());
  ASSERT_TRUE(succeeded(mlir::verify(model.module())));
  auto storage = Storage::of(model);
  ASSERT_TRUE(storage);
  EXPECT_TRUE(storage->states().empty());
  ASSERT_EQ(model.entry().getNumArguments(), 1u);
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].name, "y");
  const float numbers[] = {5, 6};
  auto outputs = interpret(model.entry(),
                           {Tensor::of<float>(ElementType::F32, {2}, numbers)});
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].toDouble(0), 15);
  EXPECT_EQ((*outputs)[0].toDouble(1), 24);
}

TEST(Freeze, RefusesWhatIsNotSound) {
  Model model = parseModel(R"(
func.func @main(%w: tensor<2xf32> {sinter.state = "w", sinter.initial = dense<0.0> : tensor<2xf32>})
    -> tensor<2xf32> {
  return %w : tensor<2xf32>
})");
  auto frozen = freeze(model);
  ASSERT_FALSE(frozen);
  EXPECT_EQ(frozen.error().message(), "state 'w': no result has it");
}
