//===- PartOpen.h - a part of the graph for what has unknown sizes --------===//
//
//   a = convolution x : 1x64x56x56         a = convolution x : 1x64x56x56
//   n = host_call a   : 2x?           ->   c = call @cpu.open(a) : ?x4
//   c = gather y, n   : ?x4
//
// What has sizes that are computed, and what follows from it, becomes a
// function of its own while passes run that know of no unknown sizes: they
// serve what stays. `joinOpen` puts it back.
//
// Restrictions:
//   - Sizes of arguments are known.
//   - What does something besides giving results keeps its order.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PARTOPEN_H
#define SINTER_BACKEND_CPU_PARTOPEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

void partOpen(mlir::func::FuncOp function);
void joinOpen(mlir::func::FuncOp function);

/// The part that partOpen() has made of \p function; null if there is none.
mlir::func::FuncOp openPartOf(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PARTOPEN_H
