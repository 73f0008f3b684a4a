//===- CheckCalls.h - expectations as calls of the process ----------------===//
//
//   check.expect_eq_const x, c   ->   cpu.host_call "sinter.expect"(x, c)
//   interpreter.print x          ->   cpu.host_call "sinter.print"(x)
//   interpreter.probe x          ->   cpu.host_call "sinter.probe"(x)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CHECKCALLS_H
#define SINTER_BACKEND_CPU_CHECKCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites the checks (graph/check) of \p function, its probes and what it
/// prints, wherever they stand. Those of quantised values stay.
void lowerChecks(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CHECKCALLS_H
