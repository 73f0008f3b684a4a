// Which operand has the shape of a result, whatever the sizes are.

#include "graph/ElementUses.h"

#include "graph/Model.h"
#include "graph/SizeSources.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

/// The number of the operand of the last operation of `(%x: ?x4, %y: ?x4)`;
/// -1 for none.
int sameIn(const std::string &operation, const std::string &result) {
  auto context = makeContext();
  Model model(context,
              parseSourceString<ModuleOp>(
                  "func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, "
                  "%s: tensor<2xi32>, %i: tensor<i32>) -> tensor<" +
                      result +
                      "> {\n %z = stablehlo.constant dense<0.0> : "
                      "tensor<f32>\n%r = " +
                      operation + "\n return %r : tensor<" + result + ">\n}",
                  context.get()));
  EXPECT_TRUE(model.module()) << operation;
  if (!model.module())
    return -2;
  Operation *op = model.entry().front().getTerminator()->getPrevNode();
  Value same = operandOfSameShape(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (operand == same)
      return static_cast<int>(i);
  return -1;
}

} // namespace

TEST(ElementUses, OperandOfSameShape) {
  EXPECT_EQ(sameIn("stablehlo.add %x, %y : tensor<?x4xf32>", "?x4xf32"), 0);
  EXPECT_EQ(sameIn("stablehlo.clamp %z, %x, %z : (tensor<f32>, "
                   "tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>",
                   "?x4xf32"),
            1);
  EXPECT_EQ(
      sameIn("stablehlo.reverse %x, dims = [0] : tensor<?x4xf32>", "?x4xf32"),
      0);
  EXPECT_EQ(sameIn("\"nn.softmax\"(%x) <{axes = array<i64: 1>}> : "
                   "(tensor<?x4xf32>) -> tensor<?x4xf32>",
                   "?x4xf32"),
            0);
  EXPECT_EQ(sameIn("stablehlo.dynamic_update_slice %x, %y, %i, %i : "
                   "(tensor<?x4xf32>, tensor<?x4xf32>, tensor<i32>, "
                   "tensor<i32>) -> tensor<?x4xf32>",
                   "?x4xf32"),
            0);
}

TEST(ElementUses, OperandOfAnotherShape) {
  EXPECT_EQ(sameIn("stablehlo.transpose %x, dims = [1, 0] : "
                   "(tensor<?x4xf32>) -> tensor<4x?xf32>",
                   "4x?xf32"),
            -1);
  EXPECT_EQ(sameIn("stablehlo.concatenate %x, %y, dim = 0 : "
                   "(tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>",
                   "?x4xf32"),
            -1);
  EXPECT_EQ(sameIn("stablehlo.pad %x, %z, low = [1, 0], high = [0, 0], "
                   "interior = [0, 0] : (tensor<?x4xf32>, tensor<f32>) -> "
                   "tensor<?x4xf32>",
                   "?x4xf32"),
            -1);
  // Either may be repeated.
  EXPECT_EQ(sameIn("\"nn.broadcast_like\"(%x, %y) : (tensor<?x4xf32>, "
                   "tensor<?x4xf32>) -> tensor<?x4xf32>",
                   "?x4xf32"),
            -1);
  EXPECT_EQ(sameIn("stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, "
                   "tensor<2xi32>) -> tensor<?x4xf32>",
                   "?x4xf32"),
            -1);
}

/// The axes of dynamic reshapes ask for the source of their sizes.
TEST(ElementUses, ChainsOfDynamicReshapes) {
  constexpr int count = 200;
  std::string text = "func.func @main(%r0: tensor<?x?xf32>, %s: tensor<2xi32>) "
                     "-> tensor<?x?xf32> {\n";
  for (int i = 0; i < count; ++i)
    text += "%a" + std::to_string(i) + " = stablehlo.abs %r" +
            std::to_string(i) + " : tensor<?x?xf32>\n%r" +
            std::to_string(i + 1) + " = stablehlo.dynamic_reshape %a" +
            std::to_string(i) +
            ", %s : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>\n";
  text += "%e = stablehlo.abs %r" + std::to_string(count) +
          " : tensor<?x?xf32>\nreturn %e : tensor<?x?xf32>\n}";
  auto context = makeContext();
  Model model(context, parseSourceString<ModuleOp>(text, context.get()));
  ASSERT_TRUE(model.module());
  Operation *last = model.entry().front().getTerminator()->getPrevNode();
  EXPECT_EQ(shapeSource(last->getResult(0)), last->getOperand(0));
}
