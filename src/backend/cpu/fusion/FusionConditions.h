//===- FusionConditions.h - what joins the operations of a kernel ---------===//
//
// A producer is fused where recomputing it costs no more than loading it
// (FormKernels.h). Whether that is so follows from the group as it is; nothing
// here changes it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_FUSIONCONDITIONS_H
#define SINTER_BACKEND_CPU_FUSION_FUSIONCONDITIONS_H

#include "backend/cpu/fusion/FusionGroup.h"

namespace sinter::cpu {

/// More operations in one kernel only cost compile time.
inline constexpr size_t maxKernelOps = 96;

/// What a group takes in at once: a producer, or a reshape and what it
/// reshapes, each with its place.
struct Fusion {
  llvm::SmallVector<std::pair<mlir::Operation *, Place>, 2> members;
  /// Whether other kernels recompute the producer.
  bool isRepeated = false;
  /// As FusionGroup::awaited, from then on; null: as it was.
  mlir::Operation *awaited = nullptr;
};

/// What \p group should take in because of \p operand, of a member; nothing
/// where that stays in memory.
std::optional<Fusion> fusionOf(const FusionGroup &group,
                               mlir::OpOperand &operand);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_FUSIONCONDITIONS_H
