//===- OutlineDynamic.h - parts of the graph for what has unknown sizes ---===//
//
//   a = convolution x : 1x64x56x56         a = convolution x : 1x64x56x56
//   n = host_call a   : 2x?           ->   d = call @cpu.open(a) : 8
//   c = gather y, n   : ?x8                e = convolution d ...
//   d = reduce c      : 8
//   e = convolution d ...
//
// What has sizes that are computed goes into functions of their own while
// passes run that know of no unknown sizes: they serve what stays. A function
// holds all that can be computed before something of known sizes is needed that
// follows from it. `inlineDynamic` puts them back.
//
// Restrictions:
//   - Sizes of arguments are known.
//   - What does something besides giving results keeps its order.
//   - Quantised tensors of unknown sizes fail.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_OUTLINEDYNAMIC_H
#define SINTER_BACKEND_CPU_SHAPES_OUTLINEDYNAMIC_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

namespace sinter::cpu {

Result<void> outlineDynamic(mlir::func::FuncOp function);
void inlineDynamic(mlir::func::FuncOp function);

/// The parts that outlineDynamic() has made of \p function.
llvm::SmallVector<mlir::func::FuncOp>
dynamicRegionsOf(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_OUTLINEDYNAMIC_H
