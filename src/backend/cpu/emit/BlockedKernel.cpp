//===- BlockedKernel.cpp - anchors with results blocked by channel --------===//

#include "backend/cpu/emit/BlockedKernel.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

BlockedEpilogue BlockedKernel::epilogue(ValueRange memory) const {
  if (!hasEpilogue())
    return {};
  int64_t width = tensorOf(anchor->getResult(0)).getDimSize(3);
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
