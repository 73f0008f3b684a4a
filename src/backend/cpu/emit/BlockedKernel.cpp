//===- BlockedKernel.cpp - roots with results blocked by channel ----------===//

#include "backend/cpu/emit/BlockedKernel.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

KernelWork BlockedKernel::workOf(ArrayRef<TaskExtent> ofImage,
                                 double flops) const {
  ArrayRef<Dim> shape = dimsOf(root->getResult(0));
  if (hasNamedDim(shape)) {
    DynamicTaskLoop loop{{{{images()}, 1}},
                         flops / double((shape[1] * shape[4]).value())};
    llvm::append_range(loop.tasks, ofImage);
    return loop;
  }
  TaskLoop loop{images().value(),
                double((images() * shape[2] * shape[3]).value()) * flops};
  for (const TaskExtent &part : ofImage) {
    int64_t count = 1;
    for (auto [i, size] : llvm::enumerate(part.sizes))
      count *= llvm::divideCeil(size.value(), part.tileOf(i));
    loop.tasks *= llvm::divideCeil(count, part.block);
  }
  return loop;
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
