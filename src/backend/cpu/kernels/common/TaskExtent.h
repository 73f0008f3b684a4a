//===- TaskExtent.h - numbers of tasks that follow from sizes -------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_COMMON_TASKEXTENT_H
#define SINTER_BACKEND_CPU_KERNELS_COMMON_TASKEXTENT_H

#include "graph/Dim.h"

#include <cstdint>
#include <vector>

namespace sinter::cpu {

/// The least number of blocks that hold a product of sizes, static or named. Of
/// each size so many count as one: tiles of pixels; all of them if there are no
/// tiles.
struct TaskExtent {
  std::vector<Dim> sizes;
  int64_t block = 1;
  std::vector<int64_t> tiles = {};

  int64_t tileOf(size_t size) const { return tiles.empty() ? 1 : tiles[size]; }
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_COMMON_TASKEXTENT_H
