//===- AlignZeroPoints.h - unify kernels up to zero points ----------------===//
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
// Zero points decide the operations of a kernel: 0 is not added, an even zero
// point is added after the rounding, an odd one before it. Kernels that differ
// only in that are rewritten to one form, in which only constants differ, for
// ShareKernels. Results stay bitwise the same.
//
// Restrictions: splat constants; integers after a rounding and as bounds; the
// rounded and clamped value is converted to an integer, and intermediate values
// have no other use.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_ALIGNZEROPOINTS_H
#define SINTER_BACKEND_CPU_QUANTIZED_ALIGNZEROPOINTS_H

#include "backend/cpu/ir/CpuOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Unifies the kernels of \p function that differ only in zero points.
/// \p formOf returns a kernel's text without the values of constants, and may
/// rewrite its constants.
void alignZeroPoints(mlir::func::FuncOp function,
                     llvm::function_ref<std::string(KernelOp)> formOf,
                     PatternRun &run);

llvm::ArrayRef<PatternInfo> alignZeroPointsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_ALIGNZEROPOINTS_H
