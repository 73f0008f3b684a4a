//===- CutKernel.h - kernels that cut numbers into parts -----------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_CUTKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_CUTKERNEL_H

#include "backend/cpu/emit/AnchorKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// A CutPartsOp of what lies in memory, and no result of a product in front.
bool cutsMemory(mlir::Operation *op);

/// The kernel that \p op is the anchor of.
std::unique_ptr<AnchorKernel>
createCutKernel(KernelOp kernel, mlir::Operation *op, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_CUTKERNEL_H
