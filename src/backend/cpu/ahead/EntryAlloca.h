//===- EntryAlloca.h - memory in the frame of a function ------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_ENTRYALLOCA_H
#define SINTER_BACKEND_CPU_AHEAD_ENTRYALLOCA_H

#include "llvm/IR/IRBuilder.h"

namespace sinter::cpu {

/// Memory of \p type in the frame of the function that \p builder is in.
/// Elsewhere than in the first block it would be none of the frame, whose size
/// is reported, and the stack pointer would change at run time.
inline llvm::AllocaInst *allocaInEntry(llvm::IRBuilder<> &builder,
                                       llvm::Type *type, const char *name) {
  llvm::BasicBlock &entry =
      builder.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin())
      .CreateAlloca(type, nullptr, name);
}

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_ENTRYALLOCA_H
