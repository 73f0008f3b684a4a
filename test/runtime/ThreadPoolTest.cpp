#include "runtime/ThreadPool.h"
#include "runtime/CpuCount.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace sinter;

namespace {

TEST(ThreadPoolTest, EveryIndexOnce) {
  for (unsigned threads : {1u, 2u, 3u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t count : {0, 1, 2, 6, 7, 100}) {
      std::vector<int> hits(static_cast<size_t>(count));
      pool.parallelFor(count, [&](int64_t index) { ++hits[index]; });
      EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), int64_t(0)), count);
      EXPECT_TRUE(std::ranges::all_of(hits, [](int n) { return n == 1; }));
    }
  }
}

TEST(ThreadPoolTest, RangesAreBalanced) {
  ThreadPool pool(4);
  std::vector<int64_t> sizes(3);
  pool.parallelRanges(11, 3, [&](int64_t begin, int64_t end, unsigned part) {
    sizes[part] = end - begin;
  });
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 3}));
}

TEST(ThreadPoolTest, NestedWorkStaysOnItsThread) {
  ThreadPool pool(3);
  std::atomic<int> inner = 0;
  pool.parallelFor(3, [&](int64_t) {
    auto outer = std::this_thread::get_id();
    pool.parallelFor(5, [&](int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      ++inner;
    });
  });
  EXPECT_EQ(inner, 15);
}

TEST(ThreadPoolTest, SurvivesManySmallJobsAndSleeps) {
  ThreadPool pool(3);
  int64_t sum = 0;
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int64_t> part = 0;
    pool.parallelRanges(
        round % 5, round % 4,
        [&](int64_t begin, int64_t end, unsigned) { part += end - begin; });
    sum += part;
    if (round % 500 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(sum, 4000);
}

TEST(ThreadPoolTest, CallersTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        pool.parallelFor(4, [&](int64_t) { ++total; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 3 * 200 * 4);
}

TEST(ThreadPoolTest, CountsProcessors) {
  EXPECT_GE(usableCpuCount(), 1u);
  EXPECT_LE(usableCpuCount(), std::thread::hardware_concurrency());
}

} // namespace
