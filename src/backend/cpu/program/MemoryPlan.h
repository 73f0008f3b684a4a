//===- MemoryPlan.h - buffer assignment of a program's tensors ------------===//
//
// Every tensor of a program has a slot. Slots of the arena whose lifetimes do
// not overlap share memory:
//
//     time        0    1    2    3
//     %a          |----|                   offset 0
//     %b               |----|              offset 64
//     %c                    |----|         offset 0
//
// Time counts the steps of a program in the order in which they are scheduled,
// those of bodies included.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_MEMORYPLAN_H
#define SINTER_BACKEND_CPU_PROGRAM_MEMORYPLAN_H

#include "runtime/Program.h"

#include "llvm/ADT/SetVector.h"
#include <vector>

namespace sinter::cpu {

/// A tensor's memory.
struct MemorySlot {
  BufferSpace space = BufferSpace::Arena;
  /// Of the constant, input, output or state.
  uint32_t index = 0;
  /// In the arena; known once the plan is placed.
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// The first and the last time at which it is used.
  int64_t begin = -1, end = -1;
};

class MemoryPlan {
public:
  /// Of a slot, counted from 0.
  using Id = uint32_t;

  Id add(BufferSpace space, uint32_t index, uint64_t bytes);
  /// Adds memory in the arena.
  Id addTemporary(uint64_t bytes) { return add(BufferSpace::Arena, 0, bytes); }
  /// Uses the slot at the present time.
  void touch(Id id);
  /// Goes on to the next step.
  void tick() { ++now; }

  /// Between both, a loop's steps are scheduled: what they use of slots that
  /// were there before stays alive until the loop ends, since each iteration
  /// needs it.
  void beginLoop() { loops.push_back({now, {}}); }
  void endLoop() { end(loops); }

  /// Between both, steps are scheduled that may run at once or in another
  /// order: what they use is alive all the time.
  void beginConcurrent() { concurrent.push_back({now, {}}); }
  void endConcurrent() { end(concurrent); }

  /// Gives the slots of the arena their offsets. Returns the arena's bytes.
  uint64_t place();
  const MemorySlot &operator[](Id id) const { return slots[id]; }
  Id size() const { return static_cast<Id>(slots.size()); }

private:
  struct Period {
    int64_t begin;
    llvm::SmallSetVector<Id, 8> used;
  };
  void end(std::vector<Period> &periods);

  std::vector<MemorySlot> slots;
  std::vector<Period> loops, concurrent;
  int64_t now = 0;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_MEMORYPLAN_H
