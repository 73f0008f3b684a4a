//===- AffineMover.h - shared by passes that move scales and shifts -------===//
//
// A pass that moves scales and shifts visits each step (affineStep), makes a
// plan, changes the graph by it and erases what is dead then. This is what such
// passes share; the plans are their own.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_AFFINEMOVER_H
#define SINTER_PASSES_AFFINEMOVER_H

#include "graph/ElementUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/AffinePlan.h"
#include "passes/Matching.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace sinter {

/// Moves the steps of one function.
class AffineMover {
public:
  AffineMover(mlir::func::FuncOp function, const WholeNodes &whole,
              PatternRun &run, GroupTracker &groups)
      : function(function), run(run), groups(groups),
        planner(function, whole, run) {}

protected:
  /// Moves steps in rounds for as long as some moved.
  static constexpr unsigned mostRounds = 8;

  /// Calls \p move for each operation that may be a step and was not erased
  /// since. Returns whether one of the calls did.
  bool moveEach(llvm::function_ref<bool(mlir::Operation *)> move);

  /// The step that \p op is, unless it has to stay as it is: another pass owns
  /// it, its result is dead or constant, or it is the bias of a matmul.
  std::optional<AffineStep> movableStep(mlir::Operation *op);

  /// Replaces the uses of \p op's result by \p by. \p op is erased with
  /// eraseDead().
  void replaceUses(mlir::Operation *op, mlir::Value by);

  /// \p placed, which scales and shifts \p constant, as a constant of the same
  /// name and type; nothing where its elements are not known.
  std::optional<mlir::Value> foldedConstant(mlir::OpBuilder &builder,
                                            mlir::Value constant,
                                            mlir::Value placed);

  /// Erases replaced operations without uses, and then their operands likewise.
  /// Calls \p erasing before each.
  void eraseDead(llvm::function_ref<void(mlir::Operation *)> erasing = {});

  mlir::func::FuncOp function;
  PatternRun &run;
  GroupTracker &groups;
  AffinePlanner planner;
  /// Operations that may have no uses once a plan is done.
  llvm::SetVector<mlir::Operation *> replaced;

private:
  /// Operations that were erased in this round.
  llvm::DenseSet<mlir::Operation *> erased;
};

/// Whether \p op and the operation that computes \p value were made from one
/// source node.
bool isOfNodeOf(mlir::Operation *op, mlir::Value value);

/// Calls `Mover(function, ...).moveAll()` for each function of \p module.
template <typename Mover>
void moveAffine(mlir::ModuleOp module, PatternRun &run) {
  const WholeNodes whole(module);
  GroupTracker groups;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal())
      Mover(function, whole, run, groups).moveAll();
  groups.dissolve(module);
}

} // namespace sinter

#endif // SINTER_PASSES_AFFINEMOVER_H
