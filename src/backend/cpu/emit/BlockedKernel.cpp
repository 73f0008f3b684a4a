//===- BlockedKernel.cpp - anchors with results blocked by channel --------===//

#include "backend/cpu/emit/BlockedKernel.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void BlockedKernel::setWork(KernelPlan &plan, int64_t ofImage,
                            double flops) const {
  const int64_t count = images();
  if (!isNamed(count)) {
    plan.tasks = count * ofImage;
    plan.flops = double(count) * flops;
    return;
  }
  plan.taskParts = {{{count}, 1}, {{ofImage}, 1}};
  double elements = 1;
  for (int64_t size : shapeOf(anchor->getResult(0)).drop_front())
    elements *= double(size);
  plan.flops = flops / elements;
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
