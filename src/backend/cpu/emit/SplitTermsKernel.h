//===- SplitTermsKernel.h - kernels that cut numbers into parts -----------===//

#ifndef SINTER_BACKEND_CPU_EMIT_SPLITTERMSKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_SPLITTERMSKERNEL_H

#include "backend/cpu/emit/RootKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// A SplitTermsOp of what lies in memory, and no result of a product in front.
bool cutsMemory(mlir::Operation *op);

/// The kernel that \p op is the root of.
std::unique_ptr<RootKernel>
createCutKernel(KernelOp kernel, mlir::Operation *op, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_SPLITTERMSKERNEL_H
