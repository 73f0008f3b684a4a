//===- TargetDescription.h - what generators decide by --------------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_TARGETDESCRIPTION_H
#define SINTER_BACKEND_CPU_TARGET_TARGETDESCRIPTION_H

#include "backend/cpu/target/Target.h"

namespace llvm {
class MCSubtargetInfo;
} // namespace llvm

namespace sinter::cpu {

/// The features that compilers take for granted on \p triple, although LLVM
/// does not: "+m,+a,+f,+d,+c" on 64-bit RISC-V where no CPU is named; the FPU
/// that a named CPU of Cortex-A mostly has.
std::string customaryFeatures(llvm::StringRef triple, llvm::StringRef cpu);

/// Whether LLVM makes code for \p target, whose features are those of \p info:
/// it ends the process otherwise, or makes code that cannot be linked. Usage
/// error with the reason.
Result<void> checkBaseline(const Target &target,
                           const llvm::MCSubtargetInfo &info);

/// Fills what follows from triple, CPU and the features that \p info has.
void describe(Target &target, const llvm::MCSubtargetInfo &info);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_TARGETDESCRIPTION_H
