#include "passes/QuantizedConstant.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// Scales change, the integers that the file has do not.
TEST(QuantizedConstant, IsStillStoredAsItWas) {
  Model model = parseModel(
      R"(func.func @main() -> tensor<2x!quant.uniform<u8:f32, 0.5:128>> {
  %c = stablehlo.constant() {value = dense<[100, 200]> : tensor<2xui8>, sinter.name = "k", sinter.source.stored_as = !quant.uniform<i8:f32, 0.5>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5:128>>
  return %c : tensor<2x!quant.uniform<u8:f32, 0.5:128>>
})");
  mlir::Value old = model.entry().front().getTerminator()->getOperand(0);
  ASSERT_TRUE(storedAs(old)) << textOf(model);
  FoldedNames names(model.module());
  mlir::OpBuilder builder(old.getDefiningOp());
  auto type = quantizedElement(builder.getIntegerType(8, false),
                               builder.getF32Type(), {{2}, {128}, -1});
  mlir::Value made =
      makeQuantized(builder, old, *constantTensor(old), type, names);
  EXPECT_EQ(constantName(made), "k_fuse_bn");
  auto stored = storedAs(made);
  ASSERT_TRUE(stored) << textOf(model);
  EXPECT_EQ(*parametersOf(stored), (QuantizationParameters{{2}, {0}, -1}));
}

} // namespace
