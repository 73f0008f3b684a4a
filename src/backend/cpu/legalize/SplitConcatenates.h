//===- SplitConcatenates.h - split wide concatenates ----------------------===//
//
//   concatenate(x[3:4], x[0:1], x[7:9], ...)  ->  take(x, [3, 0, 7, 8, ...])
//
//   concatenate(a, b, c, d, ...)
//     ->  concatenate(concatenate(a, b, ...), concatenate(c, d, ...), ...)
//
// The kernel of a concatenate has a loop per operand, so that its code size and
// compile time grow with their number. Short slices of one tensor become a
// gather with constant indices. Otherwise a kernel concatenates a bounded
// number of operands, and another one concatenates the results.
//
// Restrictions:
//   - More than 64 operands.
//   - Slices are whole along all other dimensions, and have at most 16 indices
//     on average.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_SPLITCONCATENATES_H
#define SINTER_BACKEND_CPU_LEGALIZE_SPLITCONCATENATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, whose shapes are static.
void splitConcatenates(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> splitConcatenatesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_SPLITCONCATENATES_H
