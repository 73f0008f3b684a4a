//===- SplitJoints.h - joints of very many pieces -------------------------===//
//
//   concatenate(x[3:4], x[0:1], x[7:9], ...)  ->  take(x, [3, 0, 7, 8, ...])
//
//   concatenate(a, b, c, d, ...)
//     ->  concatenate(concatenate(a, b, ...), concatenate(c, d, ...), ...)
//
// The kernel of a joint has loops for each of its pieces, so that its code, and
// the time that it takes to compile, grow with their number. Short slices of
// one tensor are taken by their numbers, which are data. Of anything else a
// kernel joins a bounded number of pieces, and another one what they give.
//
// Restrictions:
//   - More than 64 pieces.
//   - Slices are whole along all other dimensions, and of 16 places at most on
//     average.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SPLITJOINTS_H
#define SINTER_BACKEND_CPU_SPLITJOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, whose shapes are static.
void splitJoints(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> splitJointsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SPLITJOINTS_H
