//===- MemoryPlan.cpp - offsets of tensors in the arena -------------------===//

#include "backend/cpu/program/MemoryPlan.h"

#include "runtime/ArenaPlan.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::cpu;

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
    slot.begin = concurrent.empty() ? now : concurrent.front().begin;
  slot.end = std::max(slot.end, now);
  for (Period &loop : loops)
    if (slot.begin < loop.begin)
      loop.used.insert(id);
  for (Period &period : concurrent)
    period.used.insert(id);
}

void MemoryPlan::end(std::vector<Period> &periods) {
  for (Id id : periods.back().used)
    slots[id].end = std::max(slots[id].end, now);
  periods.pop_back();
}

uint64_t MemoryPlan::place() {
  ArenaPlan plan;
  for (const MemorySlot &slot : slots) {
    const bool isPlaced = slot.space == BufferSpace::Arena;
    plan.add(isPlaced ? slot.bytes : 0, slot.begin, slot.end);
  }
  const uint64_t arenaBytes = plan.place();
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].space == BufferSpace::Arena)
      slots[i].offset = plan.offsetOf(i);
  return arenaBytes;
}
