//===- Flatten.cpp - tensors and nothing else -----------------------------===//

#include "backend/cpu/Flatten.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace sinter;

/// Puts the region where the operation starts; nothing else runs meanwhile.
static void inlineAsync(stablehlo::AsyncStartOp start) {
  OpBuilder builder(start);
  IRMapping mapping;
  Block &body = start.getBody().front();
  mapping.map(body.getArguments(), start.getOperands());
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  for (Operation *user : llvm::make_early_inc_range(start->getUsers()))
    if (isa<stablehlo::AsyncDoneOp>(user)) {
      user->replaceAllUsesWith(results);
      user->erase();
    }
  if (start->use_empty())
    start->erase();
}

static void openTuple(stablehlo::TupleOp tuple) {
  for (Operation *user : llvm::make_early_inc_range(tuple->getUsers()))
    if (auto element = dyn_cast<stablehlo::GetTupleElementOp>(user)) {
      element.getResult().replaceAllUsesWith(
          tuple->getOperand(element.getIndex()));
      element.erase();
    }
  if (tuple->use_empty())
    tuple->erase();
}

/// Values of token type become tensors without elements.
static void removeTokens(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  auto empty = RankedTensorType::get({0}, IntegerType::get(context, 8));
  auto change = [&](Value value) {
    if (isa<stablehlo::TokenType>(value.getType()))
      value.setType(empty);
  };
  SmallVector<Operation *> makers;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::AfterAllOp, stablehlo::CreateTokenOp>(op))
      makers.push_back(op);
    llvm::for_each(op->getResults(), change);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), change);
  });
  for (Operation *op : makers) {
    OpBuilder builder(op);
    Value token = builder.create<stablehlo::ConstantOp>(
        op->getLoc(), DenseElementsAttr::get(empty, ArrayRef<int8_t>()));
    op->getResult(0).replaceAllUsesWith(token);
    op->erase();
  }
  function.setFunctionType(FunctionType::get(
      context, function.getBody().getArgumentTypes(),
      function.getBody().front().getTerminator()->getOperandTypes()));
}

template <typename Op> static SmallVector<Op> allOf(func::FuncOp function) {
  SmallVector<Op> found;
  function.walk([&](Op op) { found.push_back(op); });
  return found;
}

void cpu::flatten(func::FuncOp function) {
  for (auto op : allOf<stablehlo::AsyncStartOp>(function))
    inlineAsync(op);
  for (auto op : allOf<stablehlo::OptimizationBarrierOp>(function)) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
  // Those that hold others stand behind these, and are opened first.
  SmallVector<stablehlo::TupleOp> tuples = allOf<stablehlo::TupleOp>(function);
  for (auto op : llvm::reverse(tuples))
    openTuple(op);
  removeTokens(function);
}
