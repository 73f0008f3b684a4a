//===- SplitTermsKernel.cpp - kernels that cut numbers into parts ---------===//

#include "backend/cpu/emit/SplitTermsKernel.h"

#include "backend/cpu/emit/TileStages.h"
#include "backend/cpu/kernels/amx/TermSplitter.h"
#include "graph/Dim.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Rows are all dimensions but the last one, or those of pixels in blocks.
TileTerms partsOfMemory(SplitTermsOp op) {
  const ArrayRef<Dim> shape = dimsOf(op.getOperand());
  TileTerms parts = partsOf(op, /*areBlocked=*/shape.size() == 5);
  const ArrayRef<Dim> rows =
      parts.areBlocked ? shape.slice(2, 2) : shape.drop_back();
  if (hasNamedDim(rows)) {
    parts.dynamicRows = rows.vec();
    if (parts.areBlocked)
      parts.width = rows.back();
  }
  return parts;
}

class SplitTermsKernel : public RootKernel {
public:
  SplitTermsKernel(KernelOp kernel, SplitTermsOp op, const Target &target)
      : RootKernel(kernel, op, target), op(op), parts(partsOfMemory(op)),
        cutter(parts) {}

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = "cut";
    const TaskExtent ofImage = cutter.taskExtent();
    const Dim images = parts.areBlocked ? dimsOf(op.getOperand())[0] : Dim(1);
    if (parts.isDynamic() || images.isDynamic())
      plan.work = DynamicTaskLoop{{{{images}, 1}, ofImage}};
    else
      plan.work = TaskLoop{
          images.value() *
          int64_t(llvm::divideCeil(ofImage.sizes[0].value(), ofImage.block))};
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    cutter.build(builder, location, task, memory[inputIndex(op.getOperand())],
                 memory[kernel.getInputs().size()]);
  }

private:
  mutable SplitTermsOp op;
  TileTerms parts;
  TermSplitter cutter;
};

} // namespace

bool cpu::cutsMemory(Operation *op) {
  auto cut = dyn_cast<SplitTermsOp>(op);
  return cut && isa<BlockArgument>(cut.getOperand());
}

std::unique_ptr<RootKernel> cpu::createCutKernel(KernelOp kernel, Operation *op,
                                                 const Target &target) {
  return std::make_unique<SplitTermsKernel>(kernel, cast<SplitTermsOp>(op),
                                            target);
}
