//===- BlockedKernel.cpp - roots with results blocked by channel ----------===//

#include "backend/cpu/emit/BlockedKernel.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void BlockedKernel::setWork(KernelPlan &plan, ArrayRef<TaskExtent> ofImage,
                            double flops) const {
  ArrayRef<Dim> shape = dimsOf(root->getResult(0));
  if (hasNamedDim(shape)) {
    plan.taskExtents = {{{images()}, 1}};
    llvm::append_range(plan.taskExtents, ofImage);
    plan.flops = flops / double((shape[1] * shape[4]).value());
    return;
  }
  plan.tasks = images().value();
  for (const TaskExtent &part : ofImage) {
    int64_t count = 1;
    for (auto [i, size] : llvm::enumerate(part.sizes))
      count *= llvm::divideCeil(size.value(), part.tileOf(i));
    plan.tasks *= llvm::divideCeil(count, part.block);
  }
  plan.flops = double((images() * shape[2] * shape[3]).value()) * flops;
}

BlockedEpilogue BlockedKernel::epilogue(ValueRange memory) const {
  if (!hasEpilogue())
    return {};
  const Dim width = dimsOf(root->getResult(0))[3];
  BlockedEpilogue epilogue = [this, memory,
                              width](OpBuilder &builder, Location location,
                                     Value vector, const BlockedPosition &at) {
    return epilogueAt(
        builder, location, vector, at.offset,
        [&](KernelBuilder &e) -> SmallVector<Value> {
          return {at.batch, at.block, e.div(at.pixel, width),
                  e.rem(at.pixel, width), e.index(0)};
        },
        memory);
  };
  epilogue.isLong = hasLongEpilogue();
  return epilogue;
}
