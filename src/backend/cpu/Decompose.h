//===- Decompose.h - operations by those that have kernels ----------------===//
//
//   softmax(x)  ->  divide(exponential(x - max), sum)
//
// Whatever has no kernel of its own is built from stablehlo operations, also in
// regions, and what these decompose into likewise.
//
// Restrictions:
//   - Shapes are static.
//   - What still has a kernel stays: erf, map, attention that is computed
//   as a whole.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_DECOMPOSE_H
#define SINTER_BACKEND_CPU_DECOMPOSE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"

namespace sinter::cpu {

struct PassSetting;

/// Decomposes all of \p function; with \p keepsSampling but for pools and
/// resizes, which assignLayouts may bring into blocks. The Unsupported error
/// names an operation that has no decomposition.
Result<void> decompose(mlir::func::FuncOp function, bool keepsSampling,
                       const PassSetting &setting, PatternRun &run);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_DECOMPOSE_H
