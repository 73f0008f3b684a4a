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

/// What kernels are: loops, which may become vectors, or those that use matrix
/// units.
enum class CodeKind { Loops, Tiles };

/// The attribute of a function that is a subroutine, whose loops are of
/// vectors.
inline constexpr const char subroutineAttribute[] = "sinter-subroutine";

/// Optimises \p module for \p machine, which is \p target's: the passes of LLVM
/// 19's -O2 in their order, but for those that take time and find nothing in
/// kernels of that \p kind, and few of them over subroutines. System error if
/// this LLVM lacks one of them.
Result<void> optimize(llvm::Module &module, llvm::TargetMachine &machine,
                      const Target &target, CodeKind kind);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_OPTIMIZER_H
