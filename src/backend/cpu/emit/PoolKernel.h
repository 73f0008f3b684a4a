//===- PoolKernel.h - kernels of blocked pools ----------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_POOLKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_POOLKERNEL_H

#include "backend/cpu/emit/RootKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// The kernel that \p op is the root of.
std::unique_ptr<RootKernel> createPoolKernel(KernelOp kernel, PoolOp op,
                                             const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_POOLKERNEL_H
