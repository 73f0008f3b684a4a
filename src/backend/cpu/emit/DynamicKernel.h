//===- DynamicKernel.h - kernels of sizes that are not known --------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_DYNAMICKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_DYNAMICKERNEL_H

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/ir/CpuOps.h"

namespace sinter::cpu {

/// Whether \p kernel has sizes that are known only when the program runs. Its
/// last buffer is the table of them then.
bool isDynamic(KernelOp kernel);

/// \p tensor, and the table of named sizes, as a kernel's buffers.
KernelBuffer bufferOf(mlir::Value tensor, bool isWritten);
KernelBuffer tableOfSizes(mlir::MLIRContext *context);

/// Leaves to the contract how large \p buffer is, so that layers of which one
/// is larger can have the same code.
void leaveSize(KernelBuffer &buffer);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_DYNAMICKERNEL_H
