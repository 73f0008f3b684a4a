//===- EliminateDeadCode.h - removes dead operations and functions --------===//
//
//   an operation without side effects and without uses  ->  (nothing)
//   a private function without references               ->  (nothing)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_ELIMINATEDEADCODE_H
#define SINTER_PASSES_ELIMINATEDEADCODE_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> eliminateDeadCodePatterns();
std::unique_ptr<mlir::Pass>
createEliminateDeadCode(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_ELIMINATEDEADCODE_H
