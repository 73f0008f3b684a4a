//===- EntryPoints.h - the C functions of a bundle ------------------------===//
//
// The steps of a program become one function, the control flow between them
// branches in it:
//
//     Kernel   a call of the kernel with the addresses of its buffers
//     Copy     a call of a loop
//     If       a switch over the bodies
//     While    condition and body, until the condition is false
//
// docs/ahead-of-time.md describes the functions for C.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_ENTRYPOINTS_H
#define SINTER_BACKEND_CPU_AHEAD_ENTRYPOINTS_H

#include "backend/cpu/ahead/EntryRequest.h"

namespace llvm {
class Module;
} // namespace llvm

namespace sinter::cpu {

/// Adds NAME_run, NAME_workspace_size and the like of each of \p requests, and
/// NAME_state_init of the bundle, to \p module, which has the kernels;
/// NAME_weights is another object's where they are an array. The first one's
/// layout has the weights of all. Errors: System if a kernel is missing.
Result<void> addEntryPoints(llvm::Module &module,
                            llvm::ArrayRef<EntryRequest> requests);

/// Sets the bytes of the weights, if they are in the code; they are zeros
/// before.
void setWeights(llvm::Module &module, llvm::StringRef name,
                llvm::ArrayRef<char> weights);

/// Adds NAME_hash, which returns \p text.
void addHashFunction(llvm::Module &module, llvm::StringRef name,
                     llvm::StringRef text);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_ENTRYPOINTS_H
