//===- DeadCode.h - dead code elimination before kernels ------------------===//
//
// As passes/EliminateDeadCode, but for the unread results of host calls, which
// are pure or not.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_DEADCODE_H
#define SINTER_BACKEND_CPU_IR_DEADCODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Removes operations of \p function, in regions, too, that have no effect and
/// no user.
void removeDeadCode(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_DEADCODE_H
