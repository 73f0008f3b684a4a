//===- AssignLayouts.h - activations blocked by channel -------------------===//
//
// Convolutions are fastest when the channels of one pixel lie in one vector:
//
//     x ── convolution ── add(bias) ── relu ── max_pool ── flatten ── ...
//  becomes
//     x ── cpu.pack ── cpu.convolution ── add ── relu ── cpu.pool ── cpu.unpack
//     ── flatten
//
// Each operation that has a blocked operand and can work on blocks does; the
// rest gets its operands unpacked. So reorders stand only where a blocked part
// of the graph begins or ends.
//
// What has one spatial dimension, [N, C, W], is an image of one row.
//
// Restrictions:
//   - f32, and a known number of channels; images may be of any number and
//     size;
//   - convolutions of one or two spatial dimensions without batch groups;
//     lhs_dilation only where it equals the window (no two taps meet) and
//     nothing is padded;
//   - concatenation only of what stands in blocks, along channels only of whole
//     ones;
//   - beside convolutions, pools and such concatenations only what keeps
//     channels apart, by its axes (elementwise operations, padding, windows,
//     slices, sums over all pixels, ...).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_ASSIGNLAYOUTS_H
#define SINTER_BACKEND_CPU_LAYOUT_ASSIGNLAYOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Rewrites the body of \p function, whose shapes are static. Convolutions
/// that are asked for nothing else are computed with the precision of
/// \p setting.
void assignLayouts(mlir::func::FuncOp function, const PassSetting &setting,
                   PatternRun &run);

llvm::ArrayRef<PatternInfo> assignLayoutsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_ASSIGNLAYOUTS_H
