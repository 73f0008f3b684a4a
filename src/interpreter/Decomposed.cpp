//===- Decomposed.cpp - operations with a decomposition -------------------===//

#include "interpreter/Decomposed.h"

#include "graph/FirstError.h"
#include "graph/interfaces/Interfaces.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "runtime/GuardedThread.h"

using namespace mlir;

namespace sinter::interpreter {

Result<Tensors>
evaluateDecomposed(const Call &call,
                   llvm::function_ref<void(Operation *)> adapt) {
  const Location location = call.op->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  SmallVector<Type> types;
  for (auto [operand, tensor] :
       llvm::zip_equal(call.op->getOperands(), call.operands))
    types.push_back(RankedTensorType::get(tensor.shape(),
                                          tensorOf(operand).getElementType()));
  OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
  auto function = builder.create<func::FuncOp>(
      location, "main", builder.getFunctionType(types, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  Operation *copy = builder.clone(*call.op);
  copy->setOperands(block->getArguments());
  adapt(copy);
  FirstError reported(call.op->getContext());
  if (failed(verify(copy, /*verifyRecursively=*/false)))
    return invalidModel(reported.take());
  builder.setInsertionPoint(copy);
  FailureOr<SmallVector<Value>> values = failure();
  // Types of the decomposition may fail to be inferred, which is a fatal error
  // in MLIR.
  if (Result<void> built = runGuarded([&] {
        values = cast<DecomposableOpInterface>(copy).decompose(builder);
      });
      !built)
    return built.takeError();
  if (failed(values))
    return unsupported("it has no decomposition for these operands");
  copy->erase();
  builder.setInsertionPointToEnd(block);
  builder.create<func::ReturnOp>(location, *values);
  function.setType(
      builder.getFunctionType(types, ValueRange(*values).getTypes()));
  return interpret(function, call.operands);
}

} // namespace sinter::interpreter
