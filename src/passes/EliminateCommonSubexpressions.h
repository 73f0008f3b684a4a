//===- EliminateCommonSubexpressions.h - the same is computed once --------===//
//
//   a = exp(x)                 a = exp(x)
//   b = exp(x)            ->   c = a + a
//   c = a + b
//
// Operations are equal if they have the same name, operands, properties and
// types, whatever their origin. MLIR's own pass also compares their marks (the
// source node, the traces of --verify-numerics). Without these attributes it
// would merge single operations, which is too much in a graph that is exported:
// a source node of several operations must be shared as a whole or not at all,
// and a form of several nodes not at all. Otherwise they are exported in pieces
// (one sixth more nodes in transformers).
//
// Restrictions:
//   - Operations with regions stay, and those with side effects.
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
