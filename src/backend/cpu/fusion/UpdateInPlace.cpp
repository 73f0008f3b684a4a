#include "backend/cpu/fusion/UpdateInPlace.h"

#include "backend/cpu/fusion/UsersBefore.h"
#include "backend/cpu/ir/OperationKind.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr StringLiteral updateLabel = "update-in-place",
                               updatePass = "cpu-update-in-place";

namespace {

/// Finds the memory that one block's kernels may overwrite.
class InPlace {
public:
  InPlace(Block &block, PatternRun &run) : block(block), run(run) {}

  /// \p next is the value of \p argument in the next iteration or run.
  void update(BlockArgument argument, Value next);

private:
  SmallVector<Operation *> usersOf(Value value);
  bool usesPlaced(Operation *op);
  bool moveBelow(Operation *op, Operation *last);

  Block &block;
  PatternRun &run;
  /// Kernels placed after all users of an argument.
  SmallVector<std::pair<BlockArgument, KernelOp>> placed;
};

} // namespace

/// The operations of the block that use \p value, directly or in a region.
SmallVector<Operation *> InPlace::usersOf(Value value) {
  SmallVector<Operation *> readers;
  for (Operation *user : value.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (here && isAlias(here))
      llvm::append_range(readers, usersOf(here->getResult(0)));
    else if (here)
      readers.push_back(here);
  }
  return readers;
}

/// Whether \p op, if moved down, would read an old value too late.
bool InPlace::usesPlaced(Operation *op) {
  return llvm::any_of(placed, [&](const auto &pair) {
    const auto &[argument, kernel] = pair;
    return op != kernel && llvm::is_contained(usersOf(argument), op);
  });
}

/// Moves \p op after \p last, together with its users in between; returns
/// whether that is possible.
bool InPlace::moveBelow(Operation *op, Operation *last) {
  constexpr size_t most = 16;
  const std::optional<SmallVector<Operation *>> moved =
      usersBefore(op, last, most);
  if (!moved || llvm::any_of(*moved, [&](Operation *each) {
        return (!isa<KernelOp>(each) && !isAlias(each)) || usesPlaced(each);
      }))
    return false;
  for (Operation *each : *moved) {
    each->moveAfter(last);
    last = each;
  }
  return true;
}

void InPlace::update(BlockArgument argument, Value next) {
  auto kernel = memoryOf(next).getDefiningOp<KernelOp>();
  if (!kernel || kernel->getBlock() != &block)
    return;
  std::optional<unsigned> updated;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (memoryOf(input) == argument) {
      // An operand that is used twice is one input.
      if (updated || kernel.getUpdated() || !kernel.readsWhereItWrites(i))
        return;
      updated = i;
    }
  Operation *last = nullptr;
  for (Operation *reader : usersOf(argument)) {
    if (reader == kernel || reader->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (!isa<KernelOp>(reader))
      return;
    if (!last || last->isBeforeInBlock(reader))
      last = reader;
  }
  if (last && kernel->isBeforeInBlock(last) && !moveBelow(kernel, last))
    return;
  placed.push_back({argument, kernel});
  if (!updated)
    return;
  run.count(updateLabel);
  kernel.setUpdated(*updated);
}

ArrayRef<PatternInfo> cpu::updateInPlacePatterns() {
  static const PatternInfo infos[] = {
      {updateLabel,
       "w' = cpu.kernel(w) { f(w) }, w' kept as w -> the same, written over w",
       updatePass}};
  return infos;
}

void cpu::updateInPlace(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(updateLabel))
    return;
  Block &body = function.front();
  Operation *end = body.getTerminator();
  // Sub-programs have no states.
  if (Result<sinter::Storage> storage =
          sinter::Storage::of(function->getParentOfType<ModuleOp>());
      storage && function.isPublic()) {
    InPlace states(body, run);
    for (const StateTensor &state : storage->states())
      states.update(body.getArgument(state.argument),
                    end->getOperand(state.result));
  }
  function.walk([&](sinter::stablehlo::WhileOp loop) {
    Block &round = loop.getBody().front();
    InPlace carried(round, run);
    for (auto [argument, next] : llvm::zip_equal(
             round.getArguments(), round.getTerminator()->getOperands()))
      carried.update(argument, next);
  });
}
