//===- TileStages.h - how products on matrix units want to be called ------===//
//
// One kernel, whose tasks bring the rows that they multiply together in scratch
// memory, or two, of which the first does so for all tasks of the second.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_TILESTAGES_H
#define SINTER_BACKEND_CPU_EMIT_TILESTAGES_H

#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/kernels/amx/TileTerms.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>

namespace sinter::cpu {

/// What SplitTermsOp or RecombineTermsOp \p op says.
template <typename Op> TileTerms partsOf(Op op, bool areBlocked) {
  TileTerms parts;
  parts.images = int64_t(op.getImages());
  parts.rows = int64_t(op.getRows());
  parts.columns = int64_t(op.getColumns());
  parts.width = int64_t(op.getWidth());
  parts.tileRows = int64_t(op.getTileRows());
  parts.unitRows = int64_t(op.getUnitRows());
  const llvm::ArrayRef<int64_t> border = op.getBorder();
  parts.border = {border[0], border[1], border[2], border[3]};
  parts.beyond = int64_t(op.getBeyond());
  parts.areBlocked = areBlocked;
  return parts;
}

/// What the product \p root, of \p kernel, reads and stores as terms.
inline TileTermsOf partsOf(KernelOp kernel, mlir::Operation *root,
                           bool areBlocked) {
  TileTermsOf parts;
  if (auto join = root->getOperand(0).getDefiningOp<RecombineTermsOp>())
    parts.operand = partsOf(join, areBlocked);
  if (auto cut = mlir::dyn_cast_or_null<SplitTermsOp>(kernel.rootOp()))
    parts.result = partsOf(cut, areBlocked);
  return parts;
}

/// What a kernel that computes \p result by \p tiles, TileMatMul or
/// TileConvolution, could read and store in parts.
template <typename Tiles>
TileTermsOf possibleTermsOf(const std::optional<Tiles> &tiles,
                            mlir::Value result) {
  TileTermsOf parts;
  if (!tiles)
    return parts;
  parts.operand = tiles->operandTerms();
  if (mlir::getElementTypeOrSelf(result).isF32())
    parts.result = tiles->resultTerms();
  return parts;
}

/// Whether \p stage of TileMatMul or TileConvolution \p tiles brings rows
/// together for the other one.
template <typename Tiles> bool isCutStage(const Tiles &tiles, size_t stage) {
  return tiles.cutTasks() > 0 && stage == 0;
}

/// Sets the memory of \p plan, and adds the stage that brings rows together,
/// if there is one, to the loop that multiplies them.
template <typename Tiles> void planTiles(KernelPlan &plan, const Tiles &tiles) {
  const auto bytes = uint64_t(tiles.scratchBytes());
  if (tiles.hasSubroutines())
    plan.sharing = std::max(plan.sharing, CodeSharing::Subroutines);
  if (tiles.cutTasks() == 0) {
    plan.scratch.bytes = bytes;
    return;
  }
  // Only of static sizes.
  const auto loop = std::get<TaskLoop>(plan.work);
  plan.work =
      Stages{{{tiles.cutTasks()}, {loop.tasks, loop.flops}}, 1, {bytes}};
}

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_TILESTAGES_H
