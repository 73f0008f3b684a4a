//===- MayOpen.h - what a program of all sizes will not do ----------------===//
//
// A graph that is not compiled for all sizes is refused in the end by a pass or
// by its kernels (NameSizes.h, KernelEmitter.h). What can be told beforehand is
// told here, before the graph is simplified: an attempt that fails costs time.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_MAYOPEN_H
#define SINTER_BACKEND_CPU_MAYOPEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Unsupported, with the operation, where \p function has one on unknown sizes
/// that no rewrite does without and whose kernels keep none open.
Result<void> checkMayOpen(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_MAYOPEN_H
