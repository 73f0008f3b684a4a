#include "runtime/ArenaPlan.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <random>

namespace sinter {
namespace {

struct Life {
  uint64_t bytes;
  int64_t begin, end;
};

/// Places \p lives; whether none lies where another one lies in its life, and
/// all are aligned and inside. \p atOnce: the most bytes that are alive at one
/// time.
bool isSound(const std::vector<Life> &lives, uint64_t &bytes) {
  ArenaPlan plan;
  for (const Life &life : lives)
    plan.add(life.bytes, life.begin, life.end);
  bytes = plan.place();
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].begin < 0 || lives[i].bytes == 0)
      continue;
    if (plan.offsetOf(i) % 64 != 0 || plan.offsetOf(i) + lives[i].bytes > bytes)
      return false;
    for (size_t j = 0; j < i; ++j) {
      const bool together = lives[j].begin >= 0 && lives[j].bytes != 0 &&
                            lives[i].begin <= lives[j].end &&
                            lives[j].begin <= lives[i].end;
      if (together && plan.offsetOf(i) < plan.offsetOf(j) + lives[j].bytes &&
          plan.offsetOf(j) < plan.offsetOf(i) + lives[i].bytes)
        return false;
    }
  }
  return true;
}

TEST(ArenaPlan, PlacesWhatIsAliveTogetherApart) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Life> lives;
    for (uint64_t i = 0; i < 1 + random() % 60; ++i) {
      const auto begin = static_cast<int64_t>(random() % 40) - 2;
      lives.push_back(
          {random() % 500, begin, begin + static_cast<int64_t>(random() % 9)});
    }
    uint64_t bytes = 0;
    EXPECT_TRUE(isSound(lives, bytes)) << round;
  }
}

TEST(ArenaPlan, PlacesManyThatAreAliveTogether) {
  // More pairs than are looked at: placed as they come into being.
  std::mt19937_64 random(2);
  std::vector<Life> lives;
  for (int64_t i = 0; i < 3000; ++i)
    lives.push_back({1 + random() % 4000, i / 2,
                     i / 2 + static_cast<int64_t>(random() % 1500)});
  uint64_t bytes = 0;
  EXPECT_TRUE(isSound(lives, bytes));
  std::vector<uint64_t> alive(3000);
  for (const Life &life : lives)
    for (int64_t time = life.begin; time <= life.end; ++time)
      alive[time] += life.bytes;
  EXPECT_LT(bytes, *std::ranges::max_element(alive) * 3 / 2);
}

TEST(ArenaPlan, UsesMemoryAgain) {
  uint64_t bytes = 0;
  // One after the other, and two in a room of three.
  EXPECT_TRUE(
      isSound({{256, 0, 1}, {256, 1, 2}, {256, 2, 3}, {256, 3, 4}}, bytes));
  EXPECT_EQ(bytes, 512u);
  EXPECT_TRUE(isSound({{1024, 0, 1}, {512, 2, 3}, {512, 2, 3}}, bytes));
  EXPECT_EQ(bytes, 1024u);
  EXPECT_TRUE(isSound({{0, 0, 1}, {100, -1, -1}}, bytes));
  EXPECT_EQ(bytes, 0u);
}

TEST(ArenaPlan, TakesTimeInProportion) {
  for (int64_t alive : {int64_t(3), int64_t(20000)}) {
    ArenaPlan plan;
    for (int64_t i = 0; i < 20000; ++i)
      plan.add(64 + i % 977, i, i + alive);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_GT(plan.place(), 0u);
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    // Some hundredths; what is quadratic takes seconds.
    EXPECT_LT(took.count(), 1) << alive << " alive";
    std::printf("20000 tensors, %ld alive: %.1f ms\n", long(alive),
                took.count() * 1e3);
  }
}

} // namespace
} // namespace sinter
