//===- ArenaPlan.cpp - places tensors in one piece of memory --------------===//

#include "runtime/ArenaPlan.h"

#include <algorithm>

namespace sinter {

static constexpr uint64_t alignment = 64;

/// The largest first, each at the lowest place that is free for its whole life.
uint64_t ArenaPlan::place() {
  std::vector<Placed *> order;
  // In order of offset.
  std::vector<Placed *> placed;
  uint64_t arenaBytes = 0;
  for (Placed &tensor : tensors) {
    if (tensor.begin < 0 || tensor.bytes == 0)
      continue;
    (tensor.hasPlace ? placed : order).push_back(&tensor);
    if (tensor.hasPlace)
      arenaBytes = std::max(arenaBytes, tensor.offset + tensor.bytes);
  }
  std::ranges::stable_sort(placed, {}, &Placed::offset);
  // Of two as large the first comes first.
  std::sort(order.begin(), order.end(), [](const Placed *a, const Placed *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  for (Placed *tensor : order) {
    uint64_t offset = 0;
    for (const Placed *other : placed) {
      if (other->end < tensor->begin || tensor->end < other->begin)
        continue;
      if (other->offset >= offset + tensor->bytes)
        break;
      const uint64_t end = other->offset + other->bytes;
      offset = std::max(offset, (end + alignment - 1) / alignment * alignment);
    }
    tensor->offset = offset;
    arenaBytes = std::max(arenaBytes, offset + tensor->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), tensor,
                                   [](const Placed *a, const Placed *b) {
                                     return a->offset < b->offset;
                                   }),
                  tensor);
  }
  return (arenaBytes + alignment - 1) / alignment * alignment;
}

} // namespace sinter
