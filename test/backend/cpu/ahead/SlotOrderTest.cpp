#include "backend/cpu/ahead/SlotOrder.h"

#include "runtime/ArenaPlan.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace sinter;
using namespace sinter::cpu;

namespace {

std::vector<DynamicSlot> slotsOf(std::vector<std::pair<int64_t, int64_t>> lives,
                                 BufferSpace space = BufferSpace::Arena) {
  std::vector<DynamicSlot> slots;
  for (const auto &[begin, end] : lives) {
    DynamicSlot &slot = slots.emplace_back();
    slot.space = space;
    slot.begin = begin;
    slot.end = end;
  }
  return slots;
}

/// The plan for these bytes.
SlotPlan planOf(const std::vector<DynamicSlot> &slots,
                std::vector<uint64_t> bytes) {
  ArenaPlan plan;
  for (size_t i = 0; i < slots.size(); ++i)
    plan.add(bytes[i], slots[i].begin, slots[i].end);
  SlotPlan made;
  made.arenaBytes = plan.place();
  for (size_t i = 0; i < slots.size(); ++i)
    made.offsets.push_back(plan.offsetOf(i));
  made.bytes = std::move(bytes);
  return made;
}

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Offsets for slots of these bytes, and the bytes of the arena.
uint64_t place(const SlotOrder &order, const std::vector<uint64_t> &bytes,
               std::vector<uint64_t> &offsets) {
  uint64_t arena = 0;
  offsets.assign(bytes.size(), 0);
  for (const uint32_t slot : order.slots) {
    for (const uint32_t other : order.below[slot])
      offsets[slot] =
          std::max(offsets[slot], aligned(offsets[other] + bytes[other]));
    arena = std::max(arena, offsets[slot] + bytes[slot]);
  }
  return aligned(arena);
}

} // namespace

TEST(SlotOrder, OnlyWhatIsDirectlyBelow) {
  const std::vector<DynamicSlot> slots = slotsOf({{0, 3}, {0, 3}, {0, 3}});
  const SlotOrder order = SlotOrder::of(slots, planOf(slots, {192, 128, 64}));
  EXPECT_EQ(order.slots, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_TRUE(order.below[0].empty());
  EXPECT_EQ(order.below[1], std::vector<uint32_t>{0});
  EXPECT_EQ(order.below[2], std::vector<uint32_t>{1});
}

TEST(SlotOrder, OthersThanTemporariesHaveNoPlace) {
  std::vector<DynamicSlot> slots = slotsOf({{0, 3}, {-1, -1}});
  slots.push_back(slotsOf({{0, 3}}, BufferSpace::Output).front());
  const SlotOrder order = SlotOrder::of(slots, {{64, 64, 64}, {0, 0, 0}, 64});
  EXPECT_EQ(order.slots, std::vector<uint32_t>{0});
}

/// No two slots that are live at once overlap, whatever their sizes, and at the
/// sizes of the plan the arena is no larger than there.
TEST(SlotOrder, HoldsForAllSizes) {
  std::mt19937 random(11);
  const auto upTo = [&](uint64_t most) { return random() % (most + 1); };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<int64_t, int64_t>> lives;
    for (uint64_t i = 0; i < 1 + upTo(40); ++i) {
      const int64_t begin = int64_t(upTo(20));
      lives.emplace_back(begin, begin + int64_t(upTo(6)));
    }
    const std::vector<DynamicSlot> slots = slotsOf(lives);
    const auto someBytes = [&] {
      std::vector<uint64_t> bytes;
      for (size_t i = 0; i < slots.size(); ++i)
        bytes.push_back(upTo(3) == 0 ? 0 : upTo(1000));
      return bytes;
    };
    const SlotPlan plan = planOf(slots, someBytes());
    const SlotOrder order = SlotOrder::of(slots, plan);
    std::vector<uint64_t> offsets;
    EXPECT_LE(place(order, plan.bytes, offsets), plan.arenaBytes);
    const std::vector<uint64_t> bytes = someBytes();
    place(order, bytes, offsets);
    for (size_t a = 0; a < slots.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        const bool areLive =
            slots[a].begin <= slots[b].end && slots[b].begin <= slots[a].end;
        EXPECT_TRUE(!areLive || offsets[a] + bytes[a] <= offsets[b] ||
                    offsets[b] + bytes[b] <= offsets[a] || bytes[a] == 0 ||
                    bytes[b] == 0)
            << a << " and " << b;
      }
  }
}
