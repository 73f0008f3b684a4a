//===- RaiseIdioms.h - what is spelt out becomes one operation again ------===//
//
//   reduce_window(x, max)                  ->  nn.max_pool(x)
//   divide(reduce_window(x, add), count)   ->  nn.average_pool(x)
//   e / sum(e), e = exp(x - max(x))        ->  nn.softmax(x)
//
// and what RaiseNorms.h and RaiseGelu.h show, for operations that a backend
// computes better whole. For a backend's own pipeline: a writer would take them
// apart again.
//
// Restrictions:
//   - Shapes are static; pools are over dimensions from the third on.
//   - Between a softmax's greatest element and x may stand barriers, and the
//     greatest of that and -inf; a mask before a softmax stays before it.
//   - Each value inside an idiom has the readers that belong to it, or the
//     operations stay beside the raised one for the others.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISEIDIOMS_H
#define SINTER_PASSES_RAISEIDIOMS_H

#include "mlir/Pass/Pass.h"
#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseIdiomsRules();
std::unique_ptr<mlir::Pass>
createRaiseIdioms(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_RAISEIDIOMS_H
