//===- MoveTransposes.h - transposes and reshapes meet and cancel ---------===//
//
//   transpose(relu(transpose(x)) + c)   ->   relu(x) + transpose(c)
//
// A transpose (or a reshape) of elementwise operations and concatenations moves
// up through them to their operands, where it cancels with another, disappears
// in a constant or a broadcast, or stays.
//
// Restrictions:
//   - The number of transposes that remain to be run must become smaller.
//   - The operations moved through have no other user.
//   - Reshapes move through elementwise operations of static shape only.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_MOVETRANSPOSES_H
#define SINTER_PASSES_MOVETRANSPOSES_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"
#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> moveTransposesRules();
std::unique_ptr<mlir::Pass>
createMoveTransposes(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_MOVETRANSPOSES_H
