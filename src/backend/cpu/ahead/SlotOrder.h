//===- SlotOrder.h - the arena of a dynamic program, for all sizes --------===//
//
// Slots that are live at once must not overlap, whatever the sizes. Code that
// is made before the sizes are known cannot search for gaps; it follows an
// order instead, which is taken from a plan for some reference sizes:
//
//     plan at N = 64            order
//     0      256     512        b above a, c above a, d above b and c
//     | a    | b     |
//     | a    | c | d |          offset(d) = max(end(b), end(c))
//
// Of two slots that are live at once, one is above the other, so each offset is
// the maximum of the ends of those below: a sum of sizes that is right for all
// sizes, and at the reference sizes no more than the plan.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SLOTORDER_H
#define SINTER_BACKEND_CPU_AHEAD_SLOTORDER_H

#include "runtime/DynamicInstance.h"

namespace sinter::cpu {

struct SlotOrder {
  /// The slots in the arena, each after those below it.
  std::vector<uint32_t> slots;
  /// For each slot of the program: those directly below it.
  std::vector<std::vector<uint32_t>> below;

  /// The order of \p slots in \p plan, which has a size and an offset for each.
  static SlotOrder of(std::span<const DynamicSlot> slots, const SlotPlan &plan);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SLOTORDER_H
