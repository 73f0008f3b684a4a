//===- SlotOrder.cpp - the arena of a dynamic program, for all sizes ------===//

#include "backend/cpu/ahead/SlotOrder.h"

#include "llvm/ADT/BitVector.h"

#include <algorithm>
#include <tuple>

using namespace sinter;
using namespace sinter::cpu;

/// The most slots whose order is reduced to those directly below: that takes
/// the square of their number in bits.
static constexpr size_t mostReduced = 8192;

/// A slot that nothing reads is live as it is written.
static bool areLiveAtOnce(const DynamicSlot &a, const DynamicSlot &b) {
  return a.begin <= std::max(b.begin, b.end) &&
         b.begin <= std::max(a.begin, a.end);
}

SlotOrder SlotOrder::of(std::span<const DynamicSlot> slots,
                        const SlotPlan &plan) {
  SlotOrder order;
  order.below.resize(slots.size());
  for (uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].space == BufferSpace::Arena && slots[i].begin >= 0)
      order.slots.push_back(i);
  // Slots without bytes at these sizes have no place in the plan: they are
  // above all others.
  std::ranges::sort(order.slots, {}, [&](uint32_t slot) {
    return std::tuple(plan.bytes[slot] == 0, plan.offsets[slot], slot);
  });
  const bool isReduced = order.slots.size() <= mostReduced;
  // By place in `order.slots`: all that are below.
  std::vector<llvm::BitVector> all;
  for (size_t i = 0; i < order.slots.size(); ++i) {
    const uint32_t slot = order.slots[i];
    llvm::BitVector implied(isReduced ? i : 0);
    // From the top: what is below something that is below is implied.
    for (size_t other = i; other-- > 0;) {
      if (!areLiveAtOnce(slots[slot], slots[order.slots[other]]) ||
          (isReduced && implied[other]))
        continue;
      order.below[slot].push_back(order.slots[other]);
      if (!isReduced)
        continue;
      implied.set(other);
      implied |= all[other];
    }
    if (isReduced)
      all.push_back(std::move(implied));
  }
  return order;
}
