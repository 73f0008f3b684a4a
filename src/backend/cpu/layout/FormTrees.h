//===- FormTrees.h - tree ensembles as tables -----------------------------===//
//
//     tree_ensemble(x)  ->  cpu.tree_ensemble(x, nodes, roots)
//     tree_ensemble(x : f16) : f16
//         ->  convert<f16>(cpu.tree_ensemble(convert<f32>(x), ...))
//
// Restrictions: the number of features is known, and the table of weights
// (graph/nn/TreeTables.h) is not too large. Other ensembles are decomposed.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_FORMTREES_H
#define SINTER_BACKEND_CPU_LAYOUT_FORMTREES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all nn.tree_ensemble of \p function, those in regions included.
void formTrees(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> formTreesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_FORMTREES_H
