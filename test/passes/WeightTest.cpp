// Weights that are computed of constants: what there is before somebody asks.

#include "passes/Weight.h"

#include "graph/Constants.h"
#include "passes/GraphHarness.h"
#include "passes/Matching.h"

using namespace sinter;
using namespace sinter::test;

namespace {

mlir::Value returnedBy(Model &model) {
  return model.entry().front().getTerminator()->getOperand(0);
}

std::string widened(const std::string &before, const std::string &from) {
  return "func.func @main(%x: tensor<2xi8>, %n: tensor<f32>) -> tensor<2xf32> "
         "{\n  %q = stablehlo.constant dense<[3, -4]> : tensor<2xi8>\n" +
         before + "  %w = stablehlo.convert " + from +
         " : (tensor<2xi8>) -> tensor<2xf32>\n"
         "  return %w : tensor<2xf32>\n}\n";
}

} // namespace

/// A weight that stays narrow is not made wide only to be looked at: what is
/// asked for later is computed then.
TEST(Weight, IsComputedWhenAskedFor) {
  Model model = parseModel(widened("", "%q"));
  mlir::Value value = returnedBy(model);
  EXPECT_TRUE(followsFromConstants(value));
  const std::optional<Weight> weight = Weight::find(value);
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->shape(), (Shape{2}));
  EXPECT_EQ(weight->type(), ElementType::F32);
  EXPECT_EQ(weight->numbers(), (std::vector<double>{3, -4}));
  Tensor other(ElementType::I8, {2});
  other.set<int8_t>(0, 5);
  other.set<int8_t>(1, 7);
  mlir::Operation *convert = value.getDefiningOp();
  mlir::OpBuilder builder(convert);
  convert->setOperand(0, makeConstant(builder, convert->getLoc(), other, ""));
  EXPECT_EQ(weight->numbers(), (std::vector<double>{5, 7}));
}

TEST(Weight, IsNoneOfInputs) {
  Model model = parseModel(widened("", "%x"));
  EXPECT_FALSE(followsFromConstants(returnedBy(model)));
  EXPECT_FALSE(Weight::find(returnedBy(model)));
  Model sum =
      parseModel(widened("  %s = stablehlo.add %q, %x : tensor<2xi8>\n", "%s"));
  EXPECT_FALSE(Weight::find(returnedBy(sum)));
}

TEST(Weight, IsNoneBehindABarrier) {
  Model model = parseModel(widened(
      "  %b = stablehlo.optimization_barrier %q : tensor<2xi8>\n", "%b"));
  EXPECT_FALSE(followsFromConstants(returnedBy(model)));
  EXPECT_FALSE(constantValue(returnedBy(model)));
  EXPECT_FALSE(Weight::find(returnedBy(model)));
}
