//===- GraphHarness.h - graphs from text, with random weights -------------===//

#ifndef SINTER_TEST_PASSES_GRAPHHARNESS_H
#define SINTER_TEST_PASSES_GRAPHHARNESS_H

#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/Random.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sinter::test {

/// \p text with each `$name` replaced by its value; longer names first.
inline std::string
fill(std::string text,
     std::vector<std::pair<std::string, std::string>> values) {
  llvm::stable_sort(values, [](const auto &a, const auto &b) {
    return a.first.size() > b.first.size();
  });
  for (const auto &[name, value] : values)
    for (size_t at = 0; (at = text.find("$" + name, at)) != std::string::npos;
         at += value.size())
      text.replace(at, name.size() + 1, value);
  return text;
}

inline Model parseModel(const std::string &text) {
  std::shared_ptr<mlir::MLIRContext> context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  EXPECT_TRUE(module) << text;
  return Model(context, std::move(module));
}

/// A random tensor of the type; numbers in [low, high).
inline Tensor randomTensor(mlir::RankedTensorType type, uint64_t seed,
                           double low = -1, double high = 1) {
  Tensor tensor(*elementTypeOf(type.getElementType()), Shape(type.getShape()));
  fillRandom(tensor, seed, {low, high, 16});
  return tensor;
}

/// Makes constants of the entry function's arguments from the second on, called
/// w1, w2, ...; those in \p positive are in [0.5, 1.5).
inline void freezeWeights(Model &model, const std::vector<int> &positive = {}) {
  mlir::func::FuncOp function = model.entry();
  mlir::Block &block = function.front();
  auto builder = mlir::OpBuilder::atBlockBegin(&block);
  while (block.getNumArguments() > 1) {
    int index = block.getNumArguments() - 1;
    bool isPositive = llvm::is_contained(positive, index);
    auto type =
        mlir::cast<mlir::RankedTensorType>(block.getArgument(index).getType());
    Tensor tensor = isPositive ? randomTensor(type, 100 + index, 0.5, 1.5)
                               : randomTensor(type, 100 + index);
    block.getArgument(index).replaceAllUsesWith(makeConstant(
        builder, function.getLoc(), tensor, "w" + std::to_string(index)));
    block.eraseArgument(index);
  }
  function.setFunctionType(
      mlir::FunctionType::get(model.context(), block.getArgumentTypes(),
                              function.getFunctionType().getResults()));
}

/// What the model computes of random inputs.
inline std::vector<Tensor> run(const Model &model) {
  std::vector<Tensor> inputs;
  for (mlir::Type type : model.entry().getArgumentTypes())
    inputs.push_back(randomTensor(mlir::cast<mlir::RankedTensorType>(type),
                                  inputs.size() + 1));
  auto outputs = interpret(model.entry(), inputs);
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

inline void applyPass(const Model &model, std::unique_ptr<mlir::Pass> pass) {
  mlir::PassManager manager(model.context());
  manager.addPass(std::move(pass));
  EXPECT_TRUE(succeeded(manager.run(model.module())));
}

inline std::string textOf(const Model &model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  model.module().print(stream);
  return text;
}

inline int countOps(const Model &model, llvm::StringRef name) {
  int count = 0;
  model.module().walk([&](mlir::Operation *op) {
    count += op->getName().getStringRef() == name;
  });
  return count;
}

/// All operations of the entry function but constants.
inline int countComputations(const Model &model) {
  int count = 0;
  for (mlir::Operation &op : model.entry().front().without_terminator())
    count += op.getName().getStringRef() != "stablehlo.constant";
  return count;
}

/// Within \p tolerance times the largest magnitude.
inline void expectClose(const std::vector<Tensor> &before,
                        const std::vector<Tensor> &after, double tolerance) {
  ASSERT_EQ(before.size(), after.size());
  for (size_t k = 0; k < before.size(); ++k) {
    ASSERT_EQ(before[k].shape(), after[k].shape());
    ASSERT_EQ(before[k].type(), after[k].type());
    double largest = 0;
    for (int64_t i = 0; i < before[k].size(); ++i)
      largest = std::max(largest, std::abs(before[k].toDouble(i)));
    for (int64_t i = 0; i < before[k].size(); ++i)
      ASSERT_NEAR(before[k].toDouble(i), after[k].toDouble(i),
                  tolerance * largest)
          << "output " << k << ", element " << i;
  }
}

inline bool sameBits(const std::vector<Tensor> &a,
                     const std::vector<Tensor> &b) {
  if (a.size() != b.size())
    return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (a[k].shape() != b[k].shape() || a[k].type() != b[k].type() ||
        std::memcmp(a[k].data(), b[k].data(), a[k].bytes()) != 0)
      return false;
  return true;
}

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_GRAPHHARNESS_H
