#include "graph/stablehlo/OpenTuples.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sinter {

template <typename Op> static SmallVector<Op> allOf(func::FuncOp function) {
  SmallVector<Op> found;
  function.walk([&](Op op) { found.push_back(op); });
  return found;
}

static void inlineFuture(stablehlo::AsyncStartOp start) {
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

void inlineFutures(func::FuncOp function) {
  for (auto op : allOf<stablehlo::AsyncStartOp>(function))
    inlineFuture(op);
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

void openTuples(func::FuncOp function) {
  // Tuples of tuples come after their elements, and are unpacked first.
  const auto tuples = allOf<stablehlo::TupleOp>(function);
  for (stablehlo::TupleOp tuple : llvm::reverse(tuples))
    openTuple(tuple);
}

} // namespace sinter
