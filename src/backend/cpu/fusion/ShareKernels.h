//===- ShareKernels.h - share kernels that differ in constants ------------===//
//
//   cpu.kernel(%a) { %a * 0.5 }          cpu.kernel(%a, 0.5) { %a * %s }
//   cpu.kernel(%b) { %b * 0.25 }    ->   cpu.kernel(%b, 0.25) { %b * %s }
//
// Kernels with the same text share one function. Those of a quantised model's
// layers differ only in scales and zero points: where several kernels differ
// only in such constants, these become inputs.
//
// Restrictions: splat constants that arithmetic adds, subtracts, multiplies or
// divides by. Bounds, exponents, initial values and the like stay in the code,
// which depends on their values.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_SHAREKERNELS_H
#define SINTER_BACKEND_CPU_FUSION_SHAREKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites the kernels of \p function.
void shareKernels(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> shareKernelsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_SHAREKERNELS_H
