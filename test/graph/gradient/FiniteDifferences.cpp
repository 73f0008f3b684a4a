#include "graph/gradient/FiniteDifferences.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"
#include <gtest/gtest.h>
#include <optional>

using namespace mlir;
using namespace sinter;

static constexpr double step = 1e-5;

Tensor test::randomOf(Type type, uint64_t seed, Range range) {
  auto tensor = cast<RankedTensorType>(type);
  Tensor value(*elementTypeOf(tensor.getElementType()),
               Shape(tensor.getShape()));
  fillRandom(value, seed, {range.low, range.high, 16});
  return value;
}

static Tensor copyOf(const Tensor &tensor) {
  return Tensor::of<double>(tensor.type(), tensor.shape(),
                            tensor.values<double>());
}

Model test::parse(const std::string &text) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  EXPECT_TRUE(module) << text;
  return Model(context, std::move(module));
}

/// The sum of all results' elements, each times its weight.
static double weightedSum(const Model &model, ArrayRef<Tensor> inputs,
                          ArrayRef<Tensor> weights) {
  auto results = interpret(model.entry(), inputs);
  EXPECT_TRUE(results) << (results ? "" : results.error().message);
  double sum = 0;
  for (auto [result, weight] : llvm::zip_equal(*results, weights))
    for (int64_t i = 0; i < result.size(); ++i)
      sum += result.toDouble(i) * weight.toDouble(i);
  return sum;
}

LogicalResult test::differentiate(Model &model, ArrayRef<Tensor> weights) {
  func::FuncOp entry = model.entry();
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> seeds;
  for (const Tensor &weight : weights)
    seeds.push_back(makeConstant(builder, entry.getLoc(), weight));
  auto gradients =
      backpropagate(builder, end->getOperands(), seeds, entry.getArguments());
  if (failed(gradients))
    return failure();
  for (auto [gradient, argument] :
       llvm::zip_equal(*gradients, entry.getArguments()))
    if (!gradient) {
      auto type = cast<RankedTensorType>(argument.getType());
      gradient = makeConstant(builder, entry.getLoc(),
                              Tensor(*elementTypeOf(type.getElementType()),
                                     Shape(type.getShape())));
    }
  end->setOperands(*gradients);
  entry.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange(*gradients)));
  return model.module().verify();
}

/// Holds the gradients of \p model against differences, and returns the model
/// that gives them; nothing where a test has failed.
static std::optional<Model> checked(const Model &model, ArrayRef<Tensor> inputs,
                                    uint64_t seed) {
  std::vector<Tensor> weights;
  for (Type type : model.entry().getResultTypes())
    weights.push_back(test::randomOf(type, seed + weights.size(), {}));
  Model gradient = model.clone();
  if (failed(test::differentiate(gradient, weights))) {
    ADD_FAILURE() << "has no gradient";
    return std::nullopt;
  }
  auto got = interpret(gradient.entry(), inputs);
  if (!got) {
    ADD_FAILURE() << got.error().message;
    return std::nullopt;
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    EXPECT_EQ((*got)[k].shape(), inputs[k].shape());
    for (int64_t i = 0; i < inputs[k].size(); ++i) {
      std::vector<Tensor> moved(inputs.begin(), inputs.end());
      double sums[2];
      for (int side : {0, 1}) {
        moved[k] = copyOf(inputs[k]);
        moved[k].set<double>(i, inputs[k].toDouble(i) + (side ? step : -step));
        sums[side] = weightedSum(model, moved, weights);
      }
      const double want = (sums[1] - sums[0]) / (2 * step);
      const double difference = std::abs((*got)[k].toDouble(i) - want);
      if (!(difference <= 1e-6 + 1e-6 * std::abs(want))) {
        ADD_FAILURE() << "argument " << k << ", element " << i << ": "
                      << (*got)[k].toDouble(i) << " where differences give "
                      << want;
        return std::nullopt;
      }
    }
  }
  return gradient;
}

void test::check(const std::string &body, Range range) {
  SCOPED_TRACE(body);
  Model model = parse("func.func @main" + body);
  ASSERT_TRUE(model.module());
  for (uint64_t seed : {1, 20}) {
    std::vector<Tensor> inputs;
    for (Type type : model.entry().getArgumentTypes())
      inputs.push_back(randomOf(type, seed + inputs.size(), range));
    auto gradient = checked(model, inputs, seed + 50);
    if (!gradient)
      return;
    SCOPED_TRACE("the second derivative");
    if (seed == 1 && !checked(*gradient, inputs, seed + 90))
      return;
  }
}

void test::checkUnary(const std::string &op, Range range) {
  check("(%x: tensor<2x5xf64>) -> tensor<2x5xf64> { %y = " + op +
            " %x : tensor<2x5xf64>\n return %y : tensor<2x5xf64> }",
        range);
}

void test::checkBinary(const std::string &op, Range range) {
  check("(%x: tensor<7xf64>, %z: tensor<7xf64>) -> tensor<7xf64> { %y = " + op +
            " %x, %z : tensor<7xf64>\n return %y : tensor<7xf64> }",
        range);
}
