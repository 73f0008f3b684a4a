//===- RootKernels.h - operations with a generator ------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ROOTKERNELS_H
#define SINTER_BACKEND_CPU_EMIT_ROOTKERNELS_H

#include "backend/cpu/emit/RootKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// Whether \p op has a generator. Its operands that are constants can be
/// packed.
bool isRoot(mlir::Operation *op);

/// The elementwise operations behind a root that are computed on its
/// registers.
enum class Epilogue {
  None,
  AnyFloat, ///< Those that end in the root's type, or a narrower float.
  AnyType,  ///< Those that end in another type, too.
};
/// What can be the epilogue of \p op; None where it is no root.
Epilogue epilogueOf(mlir::Operation *op);

/// The kernel around the root of \p kernel; null if it has none.
std::unique_ptr<RootKernel> createRootKernel(KernelOp kernel,
                                             const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ROOTKERNELS_H
