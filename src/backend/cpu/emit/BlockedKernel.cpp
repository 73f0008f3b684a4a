//===- BlockedKernel.cpp - anchors with results blocked by channel --------===//

#include "backend/cpu/emit/BlockedKernel.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void BlockedKernel::setWork(KernelPlan &plan, ArrayRef<int64_t> ofImage,
                            double flops) const {
  ArrayRef<int64_t> shape = shapeOf(anchor->getResult(0));
  if (hasNamed(shape)) {
    plan.taskParts = {{{images()}, 1}};
    for (int64_t size : ofImage)
      plan.taskParts.push_back({{size}, 1});
    plan.flops = flops / double(shape[1] * shape[4]);
    return;
  }
  plan.tasks = images();
  for (int64_t size : ofImage)
    plan.tasks *= size;
  plan.flops = double(images() * shape[2] * shape[3]) * flops;
}

BlockedEpilogue BlockedKernel::epilogue(ValueRange memory) const {
  if (!hasEpilogue())
    return {};
  int64_t width = shapeOf(anchor->getResult(0))[3];
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
