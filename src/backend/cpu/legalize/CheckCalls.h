//===- CheckCalls.h - lower checks to runtime calls -----------------------===//
//
//   check.expect_eq_const x, c   ->   cpu.host_call "sinter.expect"(x, c)
//   interpreter.print x          ->   cpu.host_call "sinter.print"(x)
//   interpreter.probe x          ->   cpu.host_call "sinter.probe"(x)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_CHECKCALLS_H
#define SINTER_BACKEND_CPU_LEGALIZE_CHECKCALLS_H

#include "backend/cpu/ir/CpuOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites the checks (graph/check), probes and prints of \p function, also in
/// regions. Those of quantised values stay.
void lowerChecks(mlir::func::FuncOp function);

/// The call for \p op if it is a probe, whose result becomes its operand, or a
/// print; else null. \p suffix is of the function's name.
HostCallOp callObserver(mlir::Operation *op, llvm::StringRef suffix = "");

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_CHECKCALLS_H
