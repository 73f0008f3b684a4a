//===- FuseExtremes.h - extremes of what a convolution stores -------------===//
//
//   %y = cpu.kernel(%x, %w) { f(convolution) }        : 1x4x56x56x8xf32
//   %l:2 = cpu.kernel(%y) { reduce<min, max>(y, y) }  : 16x8xf32, 16x8xf32
//     -> %y:3 = cpu.kernel(%x, %w) { f(convolution), extremes(f(convolution)) }
//        %l:2 = cpu.kernel(%y#1, %y#2) { reduce<min, max>(least, greatest) }
//
// Where scales follow from the numbers that are quantised, somebody has to go
// over all of them before. They are in registers when they are stored: each
// task leaves the least and the greatest number of each lane, and who went over
// all numbers goes over these.
//
// Restrictions: known sizes; f32 in whole blocks of channels, since what lies
// beyond the last channel would count; convolutions whose results are computed
// one by one (direct, channel by channel); a kernel that does nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSEEXTREMES_H
#define SINTER_BACKEND_CPU_FUSEEXTREMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites the kernels of \p function.
void fuseExtremes(mlir::func::FuncOp function, const Target &target,
                  PatternRun &run);

llvm::ArrayRef<PatternInfo> fuseExtremesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSEEXTREMES_H
