//===- GroupLoops.h - bring independent loops together --------------------===//
//
//   %a = while (%x)          the directions of a bidirectional layer
//   %c = cpu.kernel(%a)
//   %y = cpu.kernel(%v)
//   %b = while (%y)
//     -> %y = cpu.kernel(%v)
//        %a = while (%x)
//        %b = while (%y)
//        %c = cpu.kernel(%a)
//
// Loops that stand next to each other may run at once, each on a thread of its
// own (StepKind::Concurrent). That is worth more than a thread for each half of
// their kernels, which are often too small to share.
//
// Restrictions:
//   - No loop uses results of another one, through operations in between
//     either.
//   - They call no host functions, and neither do operations that move.
//   - At most 64 operations use their results in between.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_GROUPLOOPS_H
#define SINTER_BACKEND_CPU_FUSION_GROUPLOOPS_H

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

void groupLoops(mlir::func::FuncOp function, PatternRun &run);
llvm::ArrayRef<PatternInfo> groupLoopsPatterns();

/// The loops that may run at once with \p first, itself included: it, and those
/// that follow it with nothing in between that has to be computed.
llvm::SmallVector<stablehlo::WhileOp> loopsBeside(stablehlo::WhileOp first);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_GROUPLOOPS_H
