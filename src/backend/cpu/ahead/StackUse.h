//===- StackUse.h - how much stack a module's functions take --------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_STACKUSE_H
#define SINTER_BACKEND_CPU_AHEAD_STACKUSE_H

#include "runtime/Result.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace sinter::cpu {

/// Beside a frame: the return address, and the gap in front of locals that are
/// 64-byte aligned.
inline constexpr uint64_t besideFrame = 8 + 64;

/// The frame of each function, by name, as the code generator reports it.
using StackFrames = llvm::StringMap<uint64_t>;

/// Makes the code generator report the frames of \p module's functions
/// (llvm::DiagnosticInfoStackSize).
void reportStackFrames(llvm::Module &module);

/// The most stack that any function of \p module takes with all that it calls,
/// from \p frames: return addresses and gaps for alignment included, functions
/// of other modules not. What an address is called for is in `!callees`; what
/// is handed to other modules counts as called. System error if functions call
/// each other in a circle.
Result<uint64_t> stackUse(const llvm::Module &module,
                          const StackFrames &frames);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_STACKUSE_H
