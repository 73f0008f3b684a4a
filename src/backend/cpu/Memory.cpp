//===- Memory.cpp - places tensors in the arena ---------------------------===//

#include "backend/cpu/Memory.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::cpu;

static constexpr uint64_t alignment = 64;

MemoryPlan::Id MemoryPlan::add(BufferSpace space, uint32_t index,
                               uint64_t bytes) {
  MemorySlot slot;
  slot.space = space;
  slot.index = index;
  slot.bytes = bytes;
  slots.push_back(slot);
  return static_cast<Id>(slots.size() - 1);
}

void MemoryPlan::touch(Id id) {
  MemorySlot &slot = slots[id];
  if (slot.begin < 0)
    slot.begin = now;
  slot.end = std::max(slot.end, now);
  for (Loop &loop : loops)
    if (slot.begin < loop.begin)
      loop.used.push_back(id);
}

void MemoryPlan::endLoop() {
  for (Id id : loops.back().used)
    slots[id].end = std::max(slots[id].end, now);
  loops.pop_back();
}

/// The largest first, each at the lowest place that is free for its whole life.
uint64_t MemoryPlan::place() {
  std::vector<MemorySlot *> order;
  for (MemorySlot &slot : slots)
    if (slot.space == BufferSpace::Arena && slot.begin >= 0 && slot.bytes > 0)
      order.push_back(&slot);
  std::stable_sort(order.begin(), order.end(),
                   [](const MemorySlot *a, const MemorySlot *b) {
                     return a->bytes > b->bytes;
                   });
  uint64_t arenaBytes = 0;
  // In order of offset.
  std::vector<MemorySlot *> placed;
  for (MemorySlot *slot : order) {
    uint64_t offset = 0;
    for (const MemorySlot *other : placed) {
      if (other->end < slot->begin || slot->end < other->begin)
        continue;
      if (other->offset >= offset + slot->bytes)
        break;
      const uint64_t end = other->offset + other->bytes;
      offset = std::max(offset, (end + alignment - 1) / alignment * alignment);
    }
    slot->offset = offset;
    arenaBytes = std::max(arenaBytes, offset + slot->bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), slot,
                         [](const MemorySlot *a, const MemorySlot *b) {
                           return a->offset < b->offset;
                         }),
        slot);
  }
  return (arenaBytes + alignment - 1) / alignment * alignment;
}
