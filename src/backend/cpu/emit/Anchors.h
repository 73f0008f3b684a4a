//===- Anchors.h - operations with a generator ---------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ANCHORS_H
#define SINTER_BACKEND_CPU_EMIT_ANCHORS_H

#include "backend/cpu/emit/AnchorKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// Whether \p op has a generator. Its operands that are constants can be
/// packed.
bool isAnchor(mlir::Operation *op);

/// The elementwise operations behind an anchor that are computed on its
/// registers.
enum class Epilogue {
  None,
  AnyFloat, ///< Those that end in the anchor's type, or a narrower float.
  AnyType,  ///< Those that end in another type, too.
};
/// What can be the epilogue of \p op; None where it is no anchor.
Epilogue epilogueOf(mlir::Operation *op);

/// The kernel around the anchor of \p kernel; null if it has none.
std::unique_ptr<AnchorKernel> createAnchorKernel(KernelOp kernel,
                                                 const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ANCHORS_H
