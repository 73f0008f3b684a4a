//===- TileTasks.h - tasks of AMX matmuls and convolutions ----------------===//
//
// A task multiplies some rows, which fit its thread's second-level cache, by
// some panels of weights. It stages the rows itself or, where several tasks use
// the same rows, separate staging tasks have done so before. The choice
// balances repeated reads against too few tasks.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILETASKS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILETASKS_H

#include "backend/cpu/kernels/gemm/Tiling.h"

#include <functional>
#include <limits>

namespace sinter::cpu {

/// The partition of units of rows and of panels into tasks, and whether there
/// are staging tasks, chosen by cost.
struct TileTasks {
  int64_t tasks() const { return units.count * panels.count; }

  /// All costs in seconds of one thread.
  struct Costs {
    std::function<double(int64_t units)> stage; ///< Staging in tasks,
    /// or by staging tasks; infinite if there are none.
    double shared = std::numeric_limits<double>::infinity();
    double weights;    ///< Rereading all weights,
    double products;   ///< and all products.
    int64_t mostUnits; ///< The most that fit the second-level cache.
  };
  Partition units{}, panels{};
  bool isShared = false;   ///< Whether there are staging tasks.
  double stageSeconds = 0; ///< The time of staging, for each of `outer`.
  static TileTasks choose(int64_t outer, int64_t units, int64_t panels,
                          const Costs &costs);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILETASKS_H
