//===- AbsorbTransposes.h - products that read their operands where they are -//
//
//     dot_general(transpose(x), y)  ->  dot_general(x, y) of other dimensions
//
// A product names the dimensions of its operands, so that it costs nothing to
// name others.
//
// Restrictions: the dimensions that are neither batching nor contracting keep
// their order, which is the result's.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_ABSORBTRANSPOSES_H
#define SINTER_BACKEND_CPU_LAYOUT_ABSORBTRANSPOSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all products of \p function, those in regions included.
void absorbTransposes(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> absorbTransposesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_ABSORBTRANSPOSES_H
