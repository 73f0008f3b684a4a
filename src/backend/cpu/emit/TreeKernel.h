//===- TreeKernel.h - kernels of tree ensembles ---------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_TREEKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_TREEKERNEL_H

#include "backend/cpu/emit/RootKernel.h"
#include "backend/cpu/ir/TreeOps.h"

namespace sinter::cpu {

std::unique_ptr<RootKernel> createTreeKernel(KernelOp kernel, TreeEnsembleOp op,
                                             const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_TREEKERNEL_H
