//===- HostCalls.h - lower operations to runtime calls --------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_HOSTCALLS_H
#define SINTER_BACKEND_CPU_LEGALIZE_HOSTCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites custom calls, factorisations, Fourier transforms, random number
/// generators and collective operations as cpu.host_call. Collectives that
/// combine values must do so by a single operation without a change of type. A
/// custom call's function is its target, its configuration the text of
/// `backend_config`.
void lowerToHostCalls(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_HOSTCALLS_H
