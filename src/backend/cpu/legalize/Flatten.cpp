//===- Flatten.cpp - remove tuples, tokens, futures and barriers ----------===//

#include "backend/cpu/legalize/Flatten.h"

#include "graph/stablehlo/OpenTuples.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;

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
  inlineFutures(function);
  for (auto op : allOf<stablehlo::OptimizationBarrierOp>(function)) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
  openTuples(function);
  removeTokens(function);
}
