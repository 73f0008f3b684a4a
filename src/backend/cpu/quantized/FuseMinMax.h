//===- FuseMinMax.h - fuse min and max into convolutions ------------------===//
//
//   %y = cpu.kernel(%x, %w) { f(convolution) }        : 1x4x56x56x8xf32
//   %l:2 = cpu.kernel(%y) { reduce<min, max>(y, y) }  : 16x8xf32, 16x8xf32
//     -> %y:3 = cpu.kernel(%x, %w) { f(convolution), min_max(f(convolution)) }
//        %l:2 = cpu.kernel(%y#1, %y#2) { reduce<min, max>(mins, maxs) }
//
// Dynamic quantisation needs the range of a tensor, which takes a pass over it.
// The values are in registers when the convolution stores them: each task also
// stores the minimum and the maximum of each lane, and the reduction reads only
// these.
//
// Restrictions: static sizes; f32 in whole blocks of channels, since padding
// channels would count; convolutions that compute results one by one (direct,
// depthwise); a kernel that only reduces.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_FUSEMINMAX_H
#define SINTER_BACKEND_CPU_QUANTIZED_FUSEMINMAX_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites the kernels of \p function.
void fuseMinMax(mlir::func::FuncOp function, const Target &target,
                PatternRun &run);

llvm::ArrayRef<PatternInfo> fuseMinMaxPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_FUSEMINMAX_H
