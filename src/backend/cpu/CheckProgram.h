//===- CheckProgram.h - what this backend cannot compute ------------------===//

#ifndef SINTER_BACKEND_CPU_CHECKPROGRAM_H
#define SINTER_BACKEND_CPU_CHECKPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Fails with Unsupported where regions nest deeper than a program's steps may:
/// what does would be no sound program.
Result<void> checkNesting(mlir::func::FuncOp function);

/// Fails with Unsupported, naming every type of a value in \p function that has
/// no known shape or no arithmetic here.
Result<void> checkTypes(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CHECKPROGRAM_H
