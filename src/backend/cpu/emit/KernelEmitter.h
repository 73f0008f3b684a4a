//===- KernelEmitter.h - from a cpu.kernel to a function ------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_KERNELEMITTER_H
#define SINTER_BACKEND_CPU_EMIT_KERNELEMITTER_H

#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"

#include <vector>

namespace sinter::cpu {

/// Fails with Unsupported, with the operation, where \p kernel is dynamic and
/// the code of what it computes is for known sizes only: the first before it is
/// planned.
Result<void> checkDynamic(KernelOp kernel);
Result<void> checkDynamic(KernelOp kernel, const KernelPlan &plan);

/// What it takes to call \p kernel, without writing it.
KernelPlan planKernel(KernelOp kernel, const Target &target);

/// Adds the function \p name, or one a stage, to \p module, and returns the
/// contract of each. The module's context is the kernel's and has the code
/// generator's dialects. Unsupported where the kernel's code is for known sizes
/// only, and it is dynamic.
Result<std::vector<KernelContract>> emitKernel(KernelOp kernel,
                                               const Target &target,
                                               mlir::ModuleOp module,
                                               llvm::StringRef name);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELEMITTER_H
