//===- TileTasks.cpp - tasks of AMX matmuls and convolutions --------------===//

#include "backend/cpu/kernels/amx/TileTasks.h"

#include "llvm/Support/MathExtras.h"

using namespace sinter;
using namespace sinter::cpu;

TileTasks TileTasks::choose(int64_t outer, int64_t units, int64_t panels,
                            const Costs &costs) {
  // Less work is not worth another task; more tasks than threads balance the
  // load.
  constexpr double worthATask = 20e-6;
  constexpr int64_t enoughTasks = 8;
  const int64_t wanted = std::clamp<int64_t>(
      int64_t((costs.products + costs.weights + costs.stage(units)) /
              worthATask),
      1, enoughTasks);
  TileTasks best;
  std::pair<int64_t, double> bestBy(0, 0);
  const int64_t least =
      llvm::divideCeil(units, std::max<int64_t>(1, costs.mostUnits));
  for (int64_t parts = least; parts <= units;
       parts = parts < units ? std::min(units, parts * 2) : units + 1)
    for (int64_t chunks = 1; chunks <= std::min(panels, enoughTasks);
         chunks *= 2) {
      TileTasks cut;
      cut.units = Partition::of(units, llvm::divideCeil(units, parts));
      cut.panels = Partition::of(panels, llvm::divideCeil(panels, chunks));
      const int64_t tasks = outer * cut.tasks();
      const double own = double(cut.tasks()) * costs.stage(cut.units.sizeOf(0));
      cut.isShared = costs.shared < own;
      cut.stageSeconds = std::min(own, costs.shared);
      const double seconds =
          cut.stageSeconds + double(cut.units.count) * costs.weights;
      const std::pair<int64_t, double> by(-std::min(tasks, wanted), seconds);
      if (best.units.count == 0 || by < bestBy) {
        best = cut;
        bestBy = by;
      }
    }
  return best;
}
