//===- PartOpen.h - parts of the graph for what has unknown sizes ---------===//
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
// follows from it. `joinOpen` puts them back.
//
// Restrictions:
//   - Sizes of arguments are known.
//   - What does something besides giving results keeps its order.
//   - Quantised tensors of unknown sizes fail.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PARTOPEN_H
#define SINTER_BACKEND_CPU_PARTOPEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

namespace sinter::cpu {

Result<void> partOpen(mlir::func::FuncOp function);
void joinOpen(mlir::func::FuncOp function);

/// The parts that partOpen() has made of \p function.
llvm::SmallVector<mlir::func::FuncOp> openPartsOf(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PARTOPEN_H
