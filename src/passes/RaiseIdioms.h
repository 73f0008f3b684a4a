//===- RaiseIdioms.h - raises decomposed operations -----------------------===//
//
//   reduce_window(x, max)                  ->  nn.max_pool(x)
//   divide(reduce_window(x, add), count)   ->  nn.average_pool(x)
//   e / sum(e), e = exp(x - max(x))        ->  nn.softmax(x)
//
// and the patterns of RaiseNorms.h, RaiseGelu.h and RaiseRows.h, for operations
// that a backend computes better whole. For a backend's own pipeline: an
// exporter would decompose them again.
//
// Restrictions:
//   - Shapes are static; pools are over dimensions from the third on.
//   - Between a softmax's maximum and x there may be barriers, and a maximum
//     with -inf; a mask before a softmax stays before it.
//   - Values inside an idiom have no other users; if they have, the operations
//     stay beside the raised one for those.
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
