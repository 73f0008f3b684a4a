//===- ShareKernels.h - one kernel for computations that differ in numbers ===//
//
//   cpu.kernel(%a) { %a * 0.5 }          cpu.kernel(%a, 0.5) { %a * %s }
//   cpu.kernel(%b) { %b * 0.25 }    ->   cpu.kernel(%b, 0.25) { %b * %s }
//
// Kernels with the same text are one function. Those of a quantised model's
// layers differ in scales and zero points alone: where several kernels are the
// same but for such numbers, the numbers become inputs.
//
// Restrictions: numbers that arithmetic adds, subtracts, multiplies or divides
// by, one for all elements. Bounds, exponents, initial values and the like stay
// in the code, which looks at them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAREKERNELS_H
#define SINTER_BACKEND_CPU_SHAREKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites the kernels of \p function.
void shareKernels(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> shareKernelsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAREKERNELS_H
