// Loops of unknown length: the same numbers, and gradients, up to a limit.

#include "autodiff/BoundLoops.h"

#include "graph/Model.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/nn/TensorBuilder.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

/// Twice x until it is 8 or more, each time plus p; a loop inside of it adds p
/// to it until it is 1 or more.
static constexpr const char *text = R"(
func.func @main(%x: tensor<f64>, %p: tensor<f64>) -> tensor<f64> {
  %eight = stablehlo.constant dense<8.0> : tensor<f64>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %y = "stablehlo.while"(%x) ({
  ^bb0(%s: tensor<f64>):
    %c = stablehlo.compare LT, %s, %eight : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%s: tensor<f64>):
    %i = "stablehlo.while"(%s) ({
    ^bb0(%t: tensor<f64>):
      %c = stablehlo.compare LT, %t, %one : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%t: tensor<f64>):
      %u = stablehlo.add %t, %p : tensor<f64>
      stablehlo.return %u : tensor<f64>
    }) : (tensor<f64>) -> tensor<f64>
    %d = stablehlo.multiply %i, %two : tensor<f64>
    %e = stablehlo.add %d, %p : tensor<f64>
    stablehlo.return %e : tensor<f64>
  }) : (tensor<f64>) -> tensor<f64>
  return %y : tensor<f64>
})";

static double asDouble(const Tensor &tensor) { return tensor.toDouble(0); }

/// The product of x, x / 4 and x / 16, each of which is doubled until it is 1
/// or more, times p: the loop stands in the body of a reduction.
static constexpr const char *reduction = R"(
func.func @main(%x: tensor<f64>, %p: tensor<f64>) -> tensor<f64> {
  %s = stablehlo.constant dense<[1.0, 0.25, 0.0625]> : tensor<3xf64>
  %w = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<3xf64>
  %v = stablehlo.multiply %w, %s : tensor<3xf64>
  %start = stablehlo.constant dense<1.0> : tensor<f64>
  %y = "stablehlo.reduce"(%v, %start) ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %one = stablehlo.constant dense<1.0> : tensor<f64>
    %l = "stablehlo.while"(%b) ({
    ^bb0(%t: tensor<f64>):
      %c = stablehlo.compare LT, %t, %one : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%t: tensor<f64>):
      %u = stablehlo.add %t, %t : tensor<f64>
      stablehlo.return %u : tensor<f64>
    }) : (tensor<f64>) -> tensor<f64>
    %r = stablehlo.multiply %a, %l : tensor<f64>
    stablehlo.return %r : tensor<f64>
  }) {dimensions = array<i64: 0>} : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
  %z = stablehlo.multiply %y, %p : tensor<f64>
  return %z : tensor<f64>
})";

/// y at (x, p), then its derivatives by both.
static std::vector<double> valuesAt(double x, double p, int64_t mostTrips,
                                    const char *program = text) {
  auto context = makeContext();
  Model model(context, parseSourceString<ModuleOp>(program, context.get()));
  func::FuncOp entry = model.entry();
  autodiff::boundLoops(entry, mostTrips);
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  Value result = end->getOperand(0);
  Value seed =
      nn::TensorBuilder(builder, entry.getLoc()).splat(1, tensorOf(result));
  auto gradients = backpropagate(builder, result, seed, entry.getArguments());
  EXPECT_TRUE(succeeded(gradients));
  if (failed(gradients))
    return {};
  SmallVector<Value> results = {result};
  llvm::append_range(results, *gradients);
  end->setOperands(results);
  entry.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange(results)));
  EXPECT_TRUE(succeeded(mlir::verify(model.module())));
  std::vector<Tensor> inputs;
  for (double each : {x, p})
    inputs.push_back(Tensor::of<double>(ElementType::F64, {}, {&each, 1}));
  auto got = interpret(entry, inputs);
  EXPECT_TRUE(got) << (got ? "" : got.error().message());
  return got ? std::vector<double>{asDouble((*got)[0]), asDouble((*got)[1]),
                                   asDouble((*got)[2])}
             : std::vector<double>();
}

TEST(BoundLoops, HaveGradients) {
  // 0.1 -> 0.8 -> 1.5 -> 3.7; -> 8.1: two additions, then two doublings.
  const std::vector<double> got = valuesAt(0.1, 0.7, 5);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_NEAR(got[0], 2 * (2 * 1.5 + 0.7) + 0.7, 1e-12);
  EXPECT_NEAR(got[1], 4, 1e-12);
  EXPECT_NEAR(got[2], 2 * (2 * 2 + 1) + 1, 1e-12);
  // No trip at all.
  EXPECT_EQ(valuesAt(9, 0.7, 5), (std::vector<double>{9, 1, 0}));
}

TEST(BoundLoops, GiveNoNumberWhereTheLimitIsTooLow) {
  EXPECT_NEAR(valuesAt(0.1, 0.7, 2)[0], 8.1, 1e-12);
  EXPECT_TRUE(std::isnan(valuesAt(0.1, 0.7, 1)[0]));
  EXPECT_TRUE(std::isnan(valuesAt(0.1, 0.01, 20)[0]));
}

TEST(BoundLoops, OfBodiesRunAsOftenAsEachElementNeeds) {
  // 0.3 -> 1.2 by 2 steps, 0.075 -> 1.2 by 4, 0.01875 -> 1.2 by 6.
  const std::vector<double> got = valuesAt(0.3, 0.7, 6, reduction);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_NEAR(got[0], 1.2 * 1.2 * 1.2 * 0.7, 1e-12);
  EXPECT_NEAR(got[1], 3 * 1.2 * 1.2 * 4 * 0.7, 1e-12);
  EXPECT_NEAR(got[2], 1.2 * 1.2 * 1.2, 1e-12);
  EXPECT_TRUE(std::isnan(valuesAt(0.3, 0.7, 5, reduction)[0]));
}
