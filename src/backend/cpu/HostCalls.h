//===- HostCalls.h - operations as calls of host functions ----------------===//

#ifndef SINTER_BACKEND_CPU_HOSTCALLS_H
#define SINTER_BACKEND_CPU_HOSTCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Makes cpu.host_call of custom calls, factorisations, Fourier transforms,
/// random numbers, and what processes do together (where they combine values,
/// by a single operation on a type that stays). A custom call's function is its
/// target, its configuration the text of `backend_config`.
void lowerToHostCalls(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_HOSTCALLS_H
