//===- Decompose.h - decompose operations without kernels -----------------===//
//
//   softmax(x)  ->  divide(exponential(x - max), sum)
//
// Operations without a kernel are decomposed into stablehlo operations, also in
// regions, until all have kernels.
//
// Restrictions:
//   - Shapes are static.
//   - Operations with a kernel stay: erf, map, attention that is computed as a
//     whole.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_DECOMPOSE_H
#define SINTER_BACKEND_CPU_LEGALIZE_DECOMPOSE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"

namespace sinter::cpu {

struct PassSetting;

/// Decomposes all of \p function; with \p keepsSampling except pools, resizes
/// and norms of groups, which assignLayouts may convert to blocked layouts. The
/// Unsupported error names an operation without a decomposition.
Result<void> decompose(mlir::func::FuncOp function, bool keepsSampling,
                       const PassSetting &setting, PatternRun &run);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_DECOMPOSE_H
