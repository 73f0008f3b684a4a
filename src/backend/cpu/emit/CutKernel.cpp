//===- CutKernel.cpp - kernels that cut numbers into parts ---------------===//

#include "backend/cpu/emit/CutKernel.h"

#include "backend/cpu/emit/TileStages.h"
#include "backend/cpu/kernels/PartsCutter.h"
#include "graph/NamedSizes.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Rows are all dimensions but the last one, or those of pixels in blocks.
TileParts partsOfMemory(CutPartsOp op) {
  const ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  TileParts parts = partsOf(op, /*areBlocked=*/shape.size() == 5);
  const ArrayRef<int64_t> rows =
      parts.areBlocked ? shape.slice(2, 2) : shape.drop_back();
  if (hasNamed(rows)) {
    parts.openRows = rows.vec();
    if (parts.areBlocked)
      parts.width = rows.back();
  }
  return parts;
}

class CutKernel : public AnchorKernel {
public:
  CutKernel(KernelOp kernel, CutPartsOp op, const Target &target)
      : AnchorKernel(kernel, op, target), op(op), parts(partsOfMemory(op)),
        cutter(parts) {}

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.name = "cut";
    plan.packings.resize(kernel.getInputs().size());
    const TaskPart ofImage = cutter.taskPart();
    const int64_t images = parts.areBlocked ? shapeOf(op.getOperand())[0] : 1;
    if (parts.isOpen() || isNamed(images))
      plan.taskParts = {{{images}, 1}, ofImage};
    else
      plan.tasks = images * llvm::divideCeil(ofImage.sizes[0], ofImage.block);
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    cutter.build(builder, location, task, memory[inputIndex(op.getOperand())],
                 memory[kernel.getInputs().size()]);
  }

private:
  mutable CutPartsOp op;
  TileParts parts;
  PartsCutter cutter;
};

} // namespace

bool cpu::cutsMemory(Operation *op) {
  auto cut = dyn_cast<CutPartsOp>(op);
  return cut && isa<BlockArgument>(cut.getOperand());
}

std::unique_ptr<AnchorKernel>
cpu::createCutKernel(KernelOp kernel, Operation *op, const Target &target) {
  return std::make_unique<CutKernel>(kernel, cast<CutPartsOp>(op), target);
}
