//===- PanelChunks.cpp - panels of weights, split over tasks --------------===//

#include "backend/cpu/kernels/gemm/PanelChunks.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace sinter::cpu;

PanelChunks PanelChunks::choose(int64_t panels, double seconds) {
  // Less work is not worth another task.
  constexpr int64_t enoughTasks = 8;
  constexpr double worthATask = 20e-6;
  const auto wanted =
      std::clamp<int64_t>(int64_t(seconds / worthATask), 1, enoughTasks);
  PanelChunks chunks;
  chunks.panels = panels;
  chunks.mostChunks = static_cast<int64_t>(
      llvm::bit_floor(static_cast<uint64_t>(std::min(panels, wanted))));
  return chunks;
}

int64_t PanelChunks::countFor(int64_t parts) const {
  const auto atLeastOne = static_cast<uint64_t>(std::max<int64_t>(1, parts));
  return std::max<int64_t>(
      1, mostChunks / static_cast<int64_t>(llvm::bit_floor(atLeastOne)));
}

PanelChunks::Task PanelChunks::task(VectorBuilder &code, Value parts,
                                    Value number) const {
  Value chunks = code.index(1);
  for (int64_t fewer = 2; fewer <= mostChunks; fewer *= 2)
    chunks = code.select(code.less(parts, code.index(mostChunks / fewer * 2)),
                         code.index(fewer), chunks);
  // Idle tasks are interleaved with the others, to balance the work of threads.
  Value apart = code.div(code.index(mostChunks), chunks);
  Value place = code.div(number, apart), chunk = code.rem(place, chunks);
  Task task;
  task.isAny = code.equal(code.rem(number, apart), code.index(0));
  task.part = code.div(place, chunks);
  task.firstPanel = code.div(code.mul(chunk, panels), chunks);
  task.endPanel = code.div(code.mul(code.add(chunk, 1), panels), chunks);
  return task;
}
