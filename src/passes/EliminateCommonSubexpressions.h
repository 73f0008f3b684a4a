//===- EliminateCommonSubexpressions.h - the same is computed once --------===//
//
//   a = exp(x)                 a = exp(x)
//   b = exp(x)            ->   c = a + a
//   c = a + b
//
// Equal are operations of the same name, operands, properties and types,
// whatever their origin. MLIR's own pass compares their marks, too (the source
// node, what --verify-numerics follows). Where those are no attributes it
// merges one operation after the other and asks nobody, and that is too much in
// a graph that is written again: a source node of several operations must be
// shared as a whole or not at all, and a form of several nodes not even then,
// else they are written in pieces (every sixth node more in transformers).
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
