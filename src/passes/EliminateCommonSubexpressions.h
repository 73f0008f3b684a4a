//===- EliminateCommonSubexpressions.h - the same is computed once --------===//
//
//   a = exp(x)                 a = exp(x)
//   b = exp(x)            ->   c = a + a
//   c = a + b
//
// Equal are operations of the same name, operands, properties and types,
// whatever their origin. MLIR's own pass compares their marks, too (the source
// node, what --verify-numerics follows), and would still not do without them:
// in a graph that is written again, not every operation that is equal to
// another may go. A source node of several operations is shared as a whole or
// not at all, a form of several nodes not even then, and that pass merges one
// operation after the other and asks nobody.
//
// Restrictions:
//   - Operations with regions stay, and those that have effects.
//   - Constants with different names stay apart: each is a weight of the file.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_ELIMINATECOMMONSUBEXPRESSIONS_H
#define SINTER_PASSES_ELIMINATECOMMONSUBEXPRESSIONS_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> eliminateCommonSubexpressionsPatterns();
std::unique_ptr<mlir::Pass>
createEliminateCommonSubexpressions(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_ELIMINATECOMMONSUBEXPRESSIONS_H
