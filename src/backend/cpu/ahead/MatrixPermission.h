//===- MatrixPermission.h - permission to use AMX, as code ----------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_MATRIXPERMISSION_H
#define SINTER_BACKEND_CPU_AHEAD_MATRIXPERMISSION_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

namespace sinter::cpu {

/// Whether a process needs permission on \p triple to use matrix units.
bool needsMatrixPermission(const llvm::Triple &triple);

/// Code that asks for it, which may be done again and again: a system call of
/// about 0.1 us. Whether it was refused.
llvm::Value *isMatrixPermissionRefused(llvm::IRBuilder<> &builder);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_MATRIXPERMISSION_H
