//===- AttentionKernel.h - kernels of fused attention ---------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ATTENTIONKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_ATTENTIONKERNEL_H

#include "backend/cpu/emit/RootKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// The kernel that consists of \p op.
std::unique_ptr<RootKernel>
createAttentionKernel(KernelOp kernel, AttentionOp op, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ATTENTIONKERNEL_H
