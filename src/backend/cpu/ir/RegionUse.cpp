//===- RegionUse.cpp - how a region's operations are computed -------------===//

#include "backend/cpu/ir/RegionUse.h"

#include "backend/cpu/ir/OperationKind.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool onlyMoves(Operation *op) {
  using namespace stablehlo;
  return isa<BroadcastInDimOp, IotaOp, ReshapeOp, ReverseOp, SliceOp,
             TransposeOp>(op);
}

RegionUse cpu::regionUse(Operation *op) {
  if (isControlFlow(op))
    return RegionUse::Control;
  if (kindOf(op) == Kind::Whole)
    return RegionUse::Whole;
  if (llvm::all_of(op->getResults(),
                   [](Value result) { return dimsOf(result).empty(); }))
    return RegionUse::Value;
  if (isa<stablehlo::ConstantOp>(op))
    return RegionUse::ReadThrough;
  // Through one operation at a time: chains may be long.
  Operation *source =
      op->getNumOperands() == 0 ? nullptr : op->getOperand(0).getDefiningOp();
  return onlyMoves(op) && !(source && onlyMoves(source))
             ? RegionUse::ReadThrough
             : RegionUse::Buffer;
}
