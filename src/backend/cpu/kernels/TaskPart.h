//===- TaskPart.h - numbers of tasks that follow from sizes ---------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TASKPART_H
#define SINTER_BACKEND_CPU_KERNELS_TASKPART_H

#include <cstdint>
#include <vector>

namespace sinter::cpu {

/// The least number of blocks that hold a product of sizes, some of which may
/// be named. Of each size so many count as one: tiles of pixels; all of them if
/// there are no tiles.
struct TaskPart {
  std::vector<int64_t> sizes;
  int64_t block = 1;
  std::vector<int64_t> tiles = {};

  int64_t tileOf(size_t size) const { return tiles.empty() ? 1 : tiles[size]; }
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TASKPART_H
