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

/// The kind of a kernel: loops, which may be vectorised, or AMX code.
enum class CodeKind { Loops, Tiles };

/// The attribute of a subroutine, whose loops are already vectorised.
inline constexpr const char subroutineAttribute[] = "sinter-subroutine";

/// Optimises \p module for \p machine, which is \p target's: runs the passes of
/// LLVM 19's -O2 in their order, except those that take time and find nothing
/// in kernels of kind \p kind, and only few of them on subroutines. System
/// error if this LLVM lacks one of them.
Result<void> optimize(llvm::Module &module, llvm::TargetMachine &machine,
                      const Target &target, CodeKind kind);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_OPTIMIZER_H
