#include "runtime/ThreadPool.h"
#include "runtime/CpuCount.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

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

/// A thread has the same range each time, as far as it is not late.
TEST(ThreadPoolTest, RangesAreBalanced) {
  ThreadPool pool(4);
  const std::vector<int64_t> begins = {0, 4, 8, 11};
  for (int round = 0; round < 100; ++round) {
    std::vector<std::atomic<int>> hits(11);
    pool.parallelRanges(11, 3, [&](int64_t begin, int64_t end, unsigned part) {
      ASSERT_LT(part, 3u);
      for (int64_t i = begin; i < end; ++i)
        ++hits[i];
      if (part != 0) {
        EXPECT_EQ(begin, begins[part]);
        EXPECT_LE(end, begins[part + 1]);
      }
    });
    EXPECT_TRUE(
        std::ranges::all_of(hits, [](const auto &n) { return n == 1; }));
  }
}

/// The caller takes over what sleeping threads do not begin, while they wake
/// up. Each index is done once, and no thread's memory is used by two at once.
TEST(ThreadPoolTest, LateThreadsLoseTheirPieces) {
  ThreadPool pool(3);
  std::array<std::atomic<int>, 3> users = {};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::atomic<int>> hits(64);
    pool.parallelRanges(64, 3, [&](int64_t begin, int64_t end, unsigned part) {
      EXPECT_EQ(users[part].fetch_add(1), 0);
      for (int64_t i = begin; i < end; ++i) {
        ++hits[i];
        for (volatile int work = 0; work < round * 10; work = work + 1)
          ;
      }
      users[part].fetch_sub(1);
    });
    EXPECT_TRUE(
        std::ranges::all_of(hits, [](const auto &n) { return n == 1; }));
    std::this_thread::sleep_for(std::chrono::microseconds(round % 100));
  }
}

/// Threads that are kept awake find work after a while, and so do others.
TEST(ThreadPoolTest, AwakeThreadsWork) {
  ThreadPool pool(3);
  int64_t sum = 0;
  for (int round = 0; round < 30; ++round) {
    std::optional<ThreadPool::Awake> awake;
    if (round % 3 != 0)
      awake.emplace(pool);
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (round % 15)));
    std::atomic<int64_t> done = 0;
    pool.parallelFor(9, [&](int64_t) { ++done; });
    sum += done;
  }
  EXPECT_EQ(sum, 30 * 9);
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

TEST(ThreadPoolTest, CallersShareAPool) {
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

/// A caller that finds the pool busy gets on with its own work.
TEST(ThreadPoolTest, NobodyWaitsForABusyPool) {
  ThreadPool pool(2);
  std::atomic<bool> isBusy = false, isDone = false;
  std::thread other([&] {
    pool.parallelFor(2, [&](int64_t) {
      isBusy = true;
      while (!isDone)
        std::this_thread::yield();
    });
  });
  while (!isBusy)
    std::this_thread::yield();
  std::vector<int> hits(100);
  pool.parallelFor(100, [&](int64_t index) { ++hits[index]; });
  EXPECT_TRUE(std::ranges::all_of(hits, [](int n) { return n == 1; }));
  isDone = true;
  other.join();
}

TEST(ThreadPoolTest, OneForTheProcess) {
  auto first = ThreadPool::ofProcess(2);
  auto second = ThreadPool::ofProcess(1);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first->size(), 2u);
  EXPECT_EQ(ThreadPool::ofProcess(5)->size(), 5u);
  EXPECT_EQ(first->size(), 5u);
  std::vector<int> hits(50);
  first->parallelFor(50, [&](int64_t index) { ++hits[index]; });
  EXPECT_TRUE(std::ranges::all_of(hits, [](int n) { return n == 1; }));
}

TEST(ThreadPoolTest, AHostRunsTheTasks) {
  std::vector<size_t> counts;
  const auto backwards = [&](size_t count, void (*task)(void *, size_t),
                             void *data) {
    counts.push_back(count);
    for (size_t i = count; i-- > 0;)
      task(data, i);
  };
  ThreadPool pool(3, backwards);
  EXPECT_EQ(pool.size(), 3u);
  std::vector<int> hits(100);
  std::vector<unsigned> order;
  pool.parallelRanges(100, 8, [&](int64_t begin, int64_t end, unsigned part) {
    order.push_back(part);
    for (int64_t i = begin; i < end; ++i)
      ++hits[i];
    // Work inside of work is done by whoever is there.
    pool.parallelFor(5, [](int64_t) {});
  });
  EXPECT_EQ(counts, (std::vector<size_t>{3}));
  EXPECT_EQ(order, (std::vector<unsigned>{2, 1, 0}));
  EXPECT_TRUE(std::ranges::all_of(hits, [](int n) { return n == 1; }));
}

TEST(ThreadPoolTest, TasksThatAHostErrsAboutAreDoneOnce) {
  const auto errs = [](size_t count, void (*task)(void *, size_t), void *data) {
    task(data, 1);
    task(data, 1);
    task(data, count);
    task(data, SIZE_MAX);
  };
  ThreadPool pool(4, errs);
  std::vector<int> hits(10);
  pool.parallelFor(10, [&](int64_t i) { ++hits[i]; });
  EXPECT_TRUE(std::ranges::all_of(hits, [](int n) { return n == 1; }));
}

TEST(ThreadPoolTest, GrowsWhileItWorks) {
  auto pool = ThreadPool::ofProcess(2);
  std::atomic<bool> isDone = false;
  std::thread other([&] {
    while (!isDone) {
      std::atomic<int> count = 0;
      pool->parallelFor(16, [&](int64_t) { ++count; });
      EXPECT_EQ(count, 16);
    }
  });
  for (unsigned threads = 3; threads < 12; ++threads) {
    EXPECT_EQ(ThreadPool::ofProcess(threads)->size(), threads);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  isDone = true;
  other.join();
}

#if !defined(__SANITIZE_THREAD__) && !__has_feature(thread_sanitizer)
/// The threads of a pool do not survive a fork, but the pool does, even one
/// that somebody was using.
TEST(ThreadPoolTest, WorksAfterAFork) {
  for (bool isBusy : {false, true}) {
    auto pool = ThreadPool::ofProcess(3);
    std::atomic<bool> started = false, isDone = false;
    std::thread other([&] {
      if (isBusy)
        pool->parallelFor(3, [&](int64_t) {
          started = true;
          while (!isDone)
            std::this_thread::yield();
        });
    });
    while (isBusy && !started)
      std::this_thread::yield();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      std::vector<int> hits(1000);
      std::atomic<unsigned> parts = 0;
      for (int round = 0; round < 3; ++round) {
        parts = 0;
        pool->parallelRanges(1000, 3,
                             [&](int64_t begin, int64_t end, unsigned) {
                               ++parts;
                               for (int64_t i = begin; i < end; ++i)
                                 ++hits[i];
                             });
      }
      const bool right =
          parts >= 3 && ThreadPool::ofProcess(2) == pool &&
          std::ranges::all_of(hits, [](int n) { return n == 3; });
      pool.reset();
      ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    isDone = true;
    other.join();
  }
}
#endif

TEST(ThreadPoolTest, CountsProcessors) {
  EXPECT_GE(usableCpuCount(), 1u);
  EXPECT_LE(usableCpuCount(), std::thread::hardware_concurrency());
}

} // namespace
