//===- CheckProgram.h - check for unsupported programs --------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_CHECKPROGRAM_H
#define SINTER_BACKEND_CPU_LEGALIZE_CHECKPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Fails with Unsupported where regions nest deeper than a program's
/// instructions may.
Result<void> checkNesting(mlir::func::FuncOp function);

/// Fails with Unsupported and a list of all types in \p function without a
/// known shape or without arithmetic in this backend.
Result<void> checkTypes(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_CHECKPROGRAM_H
