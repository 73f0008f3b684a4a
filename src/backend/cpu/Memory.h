//===- Memory.h - places tensors in the arena -----------------------------===//
//
// Tensors that are alive at the same time get memory of their own; others share
// it. Times count a program's steps in the order of the text.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_MEMORY_H
#define SINTER_BACKEND_CPU_MEMORY_H

#include "runtime/Program.h"

#include <vector>

namespace sinter::cpu {

/// A tensor's memory.
struct MemorySlot {
  BufferSpace space = BufferSpace::Arena;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// The first and the last time it is used.
  int64_t begin = -1, end = -1;
};

class MemoryPlan {
public:
  using Id = uint32_t;

  Id add(BufferSpace space, uint32_t index, uint64_t bytes);
  /// Memory in the arena.
  Id addTemporary(uint64_t bytes) { return add(BufferSpace::Arena, 0, bytes); }
  /// The slot is in use now.
  void touch(Id id);
  /// One more step has passed.
  void tick() { ++now; }

  /// What is used in a loop but was there before it is needed in every round.
  void beginLoop() { loops.push_back({now, {}}); }
  void endLoop();

  /// Gives the temporaries their places and returns the arena's size.
  uint64_t place();
  const MemorySlot &operator[](Id id) const { return slots[id]; }
  Id size() const { return static_cast<Id>(slots.size()); }

private:
  struct Loop {
    int64_t begin;
    std::vector<Id> used;
  };
  std::vector<MemorySlot> slots;
  std::vector<Loop> loops;
  int64_t now = 0;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_MEMORY_H
