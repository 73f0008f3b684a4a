#include "passes/Freeze.h"

#include "graph/Constants.h"
#include "graph/storage/Storage.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace sinter {

/// Replaces the states of \p entry, which are \p states.
static void freezeStates(func::FuncOp entry, ArrayRef<StateTensor> states) {
  if (states.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  llvm::BitVector arguments(entry.getNumArguments()),
      results(entry.getNumResults());
  for (const StateTensor &state : states) {
    BlockArgument argument = entry.getArgument(state.argument);
    argument.replaceAllUsesWith(makeConstant(
        builder, argument.getLoc(), *toTensor(state.initial), state.spec.name));
    arguments.set(state.argument);
    results.set(state.result);
  }
  entry.front().getTerminator()->eraseOperands(results);
  entry.eraseResults(results);
  entry.eraseArguments(arguments);
}

Result<void> freeze(Model &model) {
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  freezeStates(model.entry(), storage->states());
  return {};
}

namespace {
struct Freeze : PassWrapper<Freeze, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Freeze)
  StringRef getArgument() const final { return "freeze"; }
  StringRef getDescription() const final { return "Make states constants"; }
  void runOnOperation() final {
    Result<Storage> storage = Storage::of(getOperation());
    if (!storage) {
      getOperation().emitError(storage.error().message());
      return signalPassFailure();
    }
    freezeStates(entryOf(getOperation()), storage->states());
  }
};
} // namespace

std::unique_ptr<Pass> createFreeze() { return std::make_unique<Freeze>(); }

} // namespace sinter
