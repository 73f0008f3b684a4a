//===- AlignZeroPoints.h - zero points where other layers have some -------===//
//
//   convert(x)                     convert(x) - 0
//   convert(y) - 3            ->   convert(y) - 3
//
//   round(clamp(x))                round(clamp(x + 0))
//   round(clamp(y + 3))       ->   round(clamp(y + 3))
//
//   clamp(round(x) + 4)            clamp(round(x + 0) + 4)
//   round(clamp(y + 3))       ->   clamp(round(y + 3) + 0)
//
// Where bytes count from decides what is written: nothing is added of 0, an
// even number behind the rounding, an odd one before it. Kernels that are the
// same but for that are brought into one form, in which they differ in numbers
// only, for ShareKernels. Results keep their bits.
//
// Restrictions: numbers that are the same for all elements; integers behind a
// rounding and as bounds; what is rounded and cut is converted to an integer,
// and nobody else reads what it is on the way.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_ALIGNZEROPOINTS_H
#define SINTER_BACKEND_CPU_ALIGNZEROPOINTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Brings zero points of kernels of \p function into one form where these are
/// the same otherwise; \p formOf gives the text of one, numbers that arithmetic
/// uses left out, and may change how its constants are written.
void alignZeroPoints(mlir::func::FuncOp function,
                     llvm::function_ref<std::string(KernelOp)> formOf,
                     PatternRun &run);

llvm::ArrayRef<PatternInfo> alignZeroPointsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_ALIGNZEROPOINTS_H
