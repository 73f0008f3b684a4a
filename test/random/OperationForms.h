//===- OperationForms.h - each operation with dynamic dimensions ----------===//
//
// Every operation that random programs draw, and samples of the others, each in
// a function of its own, with one or all dimensions of one operand dynamic.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_RANDOM_OPERATIONFORMS_H
#define SINTER_TEST_RANDOM_OPERATIONFORMS_H

#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/axes/AxesSamples.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/RegionUtils.h"
#include "random/RandomProgram.h"

#include <gtest/gtest.h>

namespace sinter::test {

using namespace mlir;

/// Unknown dimensions of an operation's operands: of an operand, one or all.
struct Opened {
  unsigned operand = 0;
  std::optional<int64_t> dimension;
};

inline bool isAlone(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  return !op->hasTrait<OpTrait::IsTerminator>() && op->getNumOperands() > 0 &&
         above.empty() && llvm::all_of(op->getOperandTypes(), isTensor) &&
         llvm::all_of(op->getResultTypes(), isTensor);
}

inline bool isConstant(Value value) {
  return value.getDefiningOp<stablehlo::ConstantOp>() != nullptr;
}

/// A function of \p op alone, whose operands are arguments but for constants.
inline Model aloneOf(const Model &model, Operation *op) {
  Model alone = model.clone();
  alone.module().getBody()->clear();
  auto builder = OpBuilder::atBlockBegin(alone.module().getBody());
  SmallVector<Type> arguments;
  for (Value operand : op->getOperands())
    if (!isConstant(operand))
      arguments.push_back(operand.getType());
  auto function = builder.create<func::FuncOp>(
      op->getLoc(), "main",
      builder.getFunctionType(arguments, op->getResultTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  unsigned next = 0;
  for (Value operand : op->getOperands())
    if (isConstant(operand))
      builder.clone(*operand.getDefiningOp(), mapping);
    else if (!mapping.contains(operand))
      mapping.map(operand, function.getArgument(next++));
    else
      ++next;
  Operation *copy = builder.clone(*op, mapping);
  // The same value twice is two arguments.
  next = 0;
  for (OpOperand &operand : copy->getOpOperands())
    if (!isConstant(operand.get()))
      operand.set(function.getArgument(next++));
  builder.create<func::ReturnOp>(op->getLoc(), copy->getResults());
  return alone;
}

inline Operation *onlyIn(const Model &model) {
  return model.entry().front().getTerminator()->getPrevNode();
}

/// Gives the operation's results the types that follow from its operands', or
/// nothing but their ranks; whether it is one then.
inline bool inferAgain(Operation *op) {
  SmallVector<Type> types;
  auto inferring = dyn_cast<InferTypeOpInterface>(op);
  if (inferring) {
    if (failed(inferring.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
            op->getRegions(), types)) ||
        types.size() != op->getNumResults())
      return false;
  } else {
    for (Type type : op->getResultTypes())
      types.push_back(cast<RankedTensorType>(type).clone(SmallVector<int64_t>(
          cast<RankedTensorType>(type).getRank(), ShapedType::kDynamic)));
  }
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    // Scales are chosen, not inferred.
    Type element = getElementTypeOrSelf(result.getType());
    result.setType(cast<RankedTensorType>(type).clone(element));
  }
  return succeeded(verify(op));
}

/// Makes the dimensions dynamic; whether the operation is one then.
inline bool open(const Model &model, ArrayRef<Opened> all) {
  Operation *op = onlyIn(model);
  for (const Opened &opened : all) {
    Value operand = op->getOperand(opened.operand);
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (!opened.dimension || opened.dimension == i)
        shape[i] = ShapedType::kDynamic;
    operand.setType(type.clone(shape));
  }
  if (!inferAgain(op))
    return false;
  func::FuncOp function = model.entry();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      op->getResultTypes()));
  return true;
}

/// Calls \p check with each operation by itself, as it is and with unknown
/// dimensions.
using Check = llvm::function_ref<void(const Model &known, Model &unknown)>;

inline void forEachForm(const Model &model, Operation *op, Check check) {
  const Model known = aloneOf(model, op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (isConstant(operand.get()))
      continue;
    const int64_t rank = tensorOf(operand.get()).getRank();
    for (int64_t dimension = rank == 1 ? 0 : -1; dimension < rank;
         ++dimension) {
      Model unknown = known.clone();
      Opened opened{operand.getOperandNumber(), {}};
      if (dimension >= 0)
        opened.dimension = dimension;
      if (open(unknown, opened))
        check(known, unknown);
    }
  }
}

/// The same with all dimensions of all operands dynamic at once; where the
/// operation does not have such a form, those of one operand.
inline void forEachDynamicForm(const Model &model, Operation *op, Check check) {
  const Model known = aloneOf(model, op);
  SmallVector<Opened> all;
  for (OpOperand &operand : op->getOpOperands())
    if (!isConstant(operand.get()))
      all.push_back({operand.getOperandNumber(), {}});
  Model unknown = known.clone();
  if (open(unknown, all)) {
    check(known, unknown);
    return;
  }
  for (const Opened &opened : all) {
    unknown = known.clone();
    if (open(unknown, opened))
      check(known, unknown);
  }
}

/// Calls \p visit for each operation, of those that random programs draw and of
/// samples of the others.
inline void
forEachOperation(llvm::function_ref<void(const Model &, Operation *)> visit) {
  auto visitAll = [&](const Model &model) {
    FirstError quiet(model.context());
    for (Operation &op : model.entry().front().without_terminator())
      if (isAlone(&op))
        visit(model, &op);
  };
  for (const std::string &name : drawableOperations()) {
    RandomProgramOptions options;
    options.only = {name};
    options.operations = 2;
    for (uint64_t seed = 1; seed <= 6; ++seed)
      visitAll(randomProgram(seed, options));
  }
  auto context = makeContext();
  for (const std::string &text : axesSamples(1)) {
    Model model(context, parseSourceString<ModuleOp>(text, context.get()));
    ASSERT_TRUE(model.module()) << text;
    visitAll(model);
  }
}

inline void forEachForm(Check check) {
  forEachOperation([&](const Model &model, Operation *op) {
    forEachForm(model, op, check);
  });
}

} // namespace sinter::test

#endif // SINTER_TEST_RANDOM_OPERATIONFORMS_H
