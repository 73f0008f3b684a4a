//===- Freeze.h - state becomes constant ----------------------------------===//
//
//   main(x, w {state "w", initial W})           main(x)
//     y = dot(x, w)                               y = dot(x, W)
//     w' = w - g                          ->      return y
//     return y, w' {state "w"}
//
// Every state keeps its initial value for ever; updates of states are dead
// then.
//
// Restrictions: the states must be sound (graph/storage/Storage.h), else the
// pass fails with what is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_FREEZE_H
#define SINTER_PASSES_FREEZE_H

#include "graph/Model.h"
#include "mlir/Pass/Pass.h"

namespace sinter {

std::unique_ptr<mlir::Pass> createFreeze();

/// The same for a model.
Result<void> freeze(Model &model);

} // namespace sinter

#endif // SINTER_PASSES_FREEZE_H
