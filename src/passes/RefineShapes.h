//===- RefineShapes.h - infers static shapes ------------------------------===//
//
//   y = abs(x : 2x3) : ?x?                   y = abs(x : 2x3) : 2x3
//   s = get_dimension_size(y, 1)      ->     z = broadcast_in_dim(v) : 3
//   z = dynamic_broadcast_in_dim(v, [s])
//
// Types that follow from others are inferred, and shape computations that
// became constant are folded and resolved, alternately until nothing changes.
// This includes regions, called functions, and results of the entry function.
//
// Restrictions:
//   - Loop-carried values keep their types if their shapes may change between
//     iterations.
//   - Types that contradict each other are an error.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_REFINESHAPES_H
#define SINTER_PASSES_REFINESHAPES_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"
#include "passes/RefineTypes.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> refineShapesPatterns();

/// Fails with a diagnostic where types contradict each other.
mlir::LogicalResult refineShapes(mlir::ModuleOp module, Loops loops,
                                 PatternRun &run);

std::unique_ptr<mlir::Pass>
createRefineShapes(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_REFINESHAPES_H
