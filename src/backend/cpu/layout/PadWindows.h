//===- PadWindows.h - windows that count what lies outside ----------------===//
//
//   reduce_window(x, init), padding p, base_dilations d
//     ->  reduce_window(pad(x, init, p, d), init)
//
// What a window covers outside of its operand is the initial value. Kernels
// leave it out, which is right where it changes nothing.
//
// Restrictions:
//   - Shapes are static.
//   - Where the region is a sole maximum, minimum, and, or (which one initial
//     value more never changes), or an addition, product, xor whose initial
//     value is a constant that changes nothing, the operation stays.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_PADWINDOWS_H
#define SINTER_BACKEND_CPU_LAYOUT_PADWINDOWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites all of \p function.
void padWindows(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_PADWINDOWS_H
