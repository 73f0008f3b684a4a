#include "graph/gradient/FiniteDifferences.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>

using namespace mlir;
using namespace sinter;

static constexpr double step = 1e-5;

Tensor test::randomOf(Type type, uint64_t seed, Range range) {
  auto tensor = cast<RankedTensorType>(type);
  Tensor value(*elementTypeOf(tensor.getElementType()),
               Shape(tensor.getShape()));
  fillRandom(value, seed, {range.low, range.high, range.integerLimit});
  return value;
}

Model test::parse(const std::string &text) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  EXPECT_TRUE(module) << text;
  return Model(context, std::move(module));
}

/// Whether there are gradients by or of tensors of \p type.
static bool hasNumbers(Type type) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

static size_t countOf(const Tensor &tensor) {
  return tensor.size() * (tensor.type() == ElementType::C128 ? 2 : 1);
}

/// The elements of a tensor of f64; the parts of complex ones one by one.
static std::vector<double> partsOf(const Tensor &tensor) {
  std::vector<double> numbers(countOf(tensor));
  if (!numbers.empty())
    std::memcpy(numbers.data(), tensor.data(), tensor.bytes());
  return numbers;
}

static Tensor tensorOfParts(const Tensor &like, ArrayRef<double> numbers) {
  Tensor tensor(like.type(), like.shape());
  if (!numbers.empty())
    std::memcpy(tensor.mutableBytes(), numbers.data(), tensor.bytes());
  return tensor;
}

/// The sum of all results' elements, each times its weight.
static double weightedSum(const Model &model, ArrayRef<Tensor> inputs,
                          ArrayRef<Tensor> weights) {
  auto results = interpret(model.entry(), inputs);
  EXPECT_TRUE(results) << (results ? "" : results.error().message());
  double sum = 0;
  for (auto [type, result, weight] :
       llvm::zip_equal(model.entry().getResultTypes(), *results, weights)) {
    if (!hasNumbers(type))
      continue;
    const std::vector<double> a = partsOf(result), b = partsOf(weight);
    sum = std::inner_product(a.begin(), a.end(), b.begin(), sum);
  }
  return sum;
}

LogicalResult test::differentiate(Model &model, ArrayRef<Tensor> weights) {
  func::FuncOp entry = model.entry();
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> outputs, seeds, inputs;
  for (auto [output, weight] : llvm::zip_equal(end->getOperands(), weights))
    if (hasNumbers(output.getType())) {
      outputs.push_back(output);
      seeds.push_back(makeConstant(builder, entry.getLoc(), weight));
    }
  for (Value argument : entry.getArguments())
    if (hasNumbers(argument.getType()))
      inputs.push_back(argument);
  auto gradients = backpropagate(builder, outputs, seeds, inputs);
  if (failed(gradients))
    return failure();
  for (auto [gradient, input] : llvm::zip_equal(*gradients, inputs))
    if (!gradient) {
      auto type = cast<RankedTensorType>(input.getType());
      gradient = makeConstant(builder, entry.getLoc(),
                              Tensor(*elementTypeOf(type.getElementType()),
                                     Shape(type.getShape())));
    }
  end->setOperands(*gradients);
  entry.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange(*gradients)));
  return mlir::verify(model.module());
}

std::string test::refusalOf(Model &model) {
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(model.context(), [&](Diagnostic &each) {
    messages.push_back(each.str());
    return success();
  });
  EXPECT_TRUE(failed(differentiate(
      model, {randomOf(model.entry().getResultTypes()[0], 1, {})})));
  EXPECT_EQ(messages.size(), 1u);
  return messages.empty() ? "" : messages.back();
}

/// The gradient by argument \p k, by differences.
static std::vector<double> differences(const Model &model,
                                       ArrayRef<Tensor> inputs, size_t k,
                                       ArrayRef<Tensor> weights) {
  const std::vector<double> here = partsOf(inputs[k]);
  std::vector<Tensor> moved(inputs.begin(), inputs.end());
  std::vector<double> slopes;
  for (size_t i = 0; i < here.size(); ++i) {
    double sums[2];
    for (int side : {0, 1}) {
      std::vector<double> numbers = here;
      numbers[i] += side ? step : -step;
      moved[k] = tensorOfParts(inputs[k], numbers);
      sums[side] = weightedSum(model, moved, weights);
    }
    slopes.push_back((sums[1] - sums[0]) / (2 * step));
  }
  return slopes;
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
    ADD_FAILURE() << got.error().message();
    return std::nullopt;
  }
  size_t next = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!hasNumbers(model.entry().getArgumentTypes()[k]))
      continue;
    const Tensor &mine = (*got)[next++];
    EXPECT_EQ(mine.shape(), inputs[k].shape());
    const std::vector<double> numbers = partsOf(mine);
    const std::vector<double> wanted = differences(model, inputs, k, weights);
    for (size_t i = 0; i < wanted.size(); ++i)
      if (!(std::abs(numbers[i] - wanted[i]) <=
            1e-6 + 1e-6 * std::abs(wanted[i]))) {
        ADD_FAILURE() << "argument " << k << ", number " << i << ": "
                      << numbers[i] << " where differences give " << wanted[i];
        return std::nullopt;
      }
  }
  return gradient;
}

bool test::checkModel(const Model &model, ArrayRef<Tensor> inputs,
                      uint64_t seed, bool isTwice) {
  auto gradient = checked(model, inputs, seed + 50);
  if (!gradient)
    return false;
  SCOPED_TRACE("the second derivative");
  return !isTwice || checked(*gradient, inputs, seed + 90);
}

void test::check(const std::string &body, Range range) {
  SCOPED_TRACE(body);
  Model model = parse("func.func @main" + body);
  ASSERT_TRUE(model.module());
  for (uint64_t seed : {1, 20}) {
    std::vector<Tensor> inputs;
    for (Type type : model.entry().getArgumentTypes())
      inputs.push_back(randomOf(type, seed + inputs.size(), range));
    if (!checkModel(model, inputs, seed, seed == 1))
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
