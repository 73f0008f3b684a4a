//===- Optimizer.h - LLVM's passes over kernels ---------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_OPTIMIZER_H
#define SINTER_BACKEND_CPU_CODEGEN_OPTIMIZER_H

#include "runtime/Result.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace sinter::cpu {

struct Target;

/// Optimises \p module for \p machine, which is \p target's: the passes of LLVM
/// 19's -O2 in their order, but for those that take time and find nothing in
/// kernels, or none in those that \p usesTiles. System error if this LLVM lacks
/// one of them.
Result<void> optimize(llvm::Module &module, llvm::TargetMachine &machine,
                      const Target &target, bool usesTiles);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_OPTIMIZER_H
