#include "backend/cpu/fusion/GroupLoops.h"

#include "backend/cpu/fusion/UsersBefore.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include <optional>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr StringLiteral groupLabel = "group-independent-loops",
                               groupPass = "cpu-group-loops";

/// Whether \p op, with all in its regions, may run beside others and later.
static bool isMovable(Operation *op) {
  if (!isa<KernelOp>(op) && !isAlias(op) && !isControlFlow(op))
    return false;
  return !op->walk([](Operation *inner) {
              return isa<HostCallOp, DefineSizesOp>(inner)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

namespace {

/// Loops of one block that stand next to each other.
class LoopGroup {
public:
  explicit LoopGroup(stablehlo::WhileOp first) : loops({first}) {}

  /// Moves the loops down to \p next, and what uses their results behind it;
  /// returns whether that is possible. The loops are movable.
  bool moveTo(stablehlo::WhileOp next);

  SmallVector<stablehlo::WhileOp> loops;

private:
  static constexpr size_t mostMoved = 64;
};

} // namespace

bool LoopGroup::moveTo(stablehlo::WhileOp next) {
  const SmallVector<Operation *> moved(loops.begin(), loops.end());
  const std::optional<SmallVector<Operation *>> all =
      usersBefore(moved, next, mostMoved + moved.size());
  if (!all || !llvm::all_of(*all, isMovable))
    return false;
  Operation *last = next;
  for (Operation *op : *all)
    if (llvm::is_contained(moved, op)) {
      op->moveBefore(next);
    } else {
      op->moveAfter(last);
      last = op;
    }
  loops.push_back(next);
  return true;
}

void cpu::groupLoops(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(groupLabel))
    return;
  function.walk([&](Block *block) {
    std::optional<LoopGroup> group;
    for (stablehlo::WhileOp loop :
         llvm::to_vector(block->getOps<stablehlo::WhileOp>())) {
      if (!isMovable(loop)) {
        group.reset();
        continue;
      }
      if (group && group->moveTo(loop))
        run.count(groupLabel);
      else
        group.emplace(loop);
    }
  });
}

SmallVector<stablehlo::WhileOp> cpu::loopsBeside(stablehlo::WhileOp first) {
  SmallVector<stablehlo::WhileOp> loops = {first};
  if (!isMovable(first))
    return loops;
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    const bool usesLoops =
        op->walk([&](Operation *inner) {
            return llvm::any_of(
                       inner->getOperands(),
                       [&](Value operand) {
                         auto loop = memoryOf(operand)
                                         .getDefiningOp<stablehlo::WhileOp>();
                         return loop && llvm::is_contained(loops, loop);
                       })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          }).wasInterrupted();
    auto loop = dyn_cast<stablehlo::WhileOp>(op);
    if (loop && isMovable(loop) && !usesLoops)
      loops.push_back(loop);
    else if (!isConstant(op) && !isAlias(op))
      break;
  }
  return loops;
}

ArrayRef<PatternInfo> cpu::groupLoopsPatterns() {
  static const PatternInfo all[] = {
      {groupLabel, "%a = while, ..., %b = while -> ..., %a = while, %b = while",
       groupPass}};
  return all;
}
