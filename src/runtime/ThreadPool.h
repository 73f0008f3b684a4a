//===- ThreadPool.h - the threads that kernels run on ---------------------===//
//
// One pool serves a whole process, however many models run in it. Work is split
// statically into as many contiguous ranges as threads take part, so that a
// thread finds in its cache what it wrote a step before. Idle threads spin for
// some microseconds, the time between two steps of a model, and then sleep.
//
// Several threads may bring work at the same time. The pool does one job at a
// time; who finds it busy does his own work himself, piece by piece, until the
// pool is free for the rest: nobody waits while there is something to do.
//
// A process made by fork() has none of its parent's threads. A pool notices,
// and starts threads of its own with the first work that it gets there.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_THREADPOOL_H
#define SINTER_RUNTIME_THREADPOOL_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace sinter {

class ThreadPool {
public:
  /// A pool in which \p threads work, the caller of parallelRanges among them;
  /// 0 stands for usableCpuCount() of CpuCount.h. Where the system refuses a
  /// thread, the pool has as many as it got.
  explicit ThreadPool(unsigned threads = 0);
  /// The process's pool, which has at least \p threads (0: as above) from now
  /// on. It lives as long as somebody holds it.
  static std::shared_ptr<ThreadPool> ofProcess(unsigned threads = 0);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  /// Joins the threads. No work may be under way.
  ~ThreadPool();

  unsigned size() const { return count.load(std::memory_order_acquire) + 1; }

  /// Splits [0, count) into min(threads, size(), count) ranges that differ by
  /// one at most and calls `body(begin, end, part)` for each on a thread of its
  /// own; the caller's thread does part 0. Where others use the pool, ranges of
  /// part 0 go before those. Returns when all are done. \p body must not throw.
  /// Called from inside a body, it does all the work itself.
  template <typename Body>
  void parallelRanges(int64_t count, unsigned threads, Body &&body) {
    if (count <= 0)
      return;
    const auto parts = static_cast<unsigned>(
        std::clamp<int64_t>(threads, 1, std::min<int64_t>(size(), count)));
    if (parts == 1 || insideBody())
      return static_cast<void>(body(int64_t(0), count, 0u));
    using Callable = std::remove_reference_t<Body>;
    run({[](const void *context, int64_t begin, int64_t end, unsigned part) {
           (*static_cast<Callable *>(const_cast<void *>(context)))(begin, end,
                                                                   part);
         },
         std::addressof(body), 0, count, parts});
  }

  /// Calls `body(index)` for every index in [0, count) on all threads.
  template <typename Body> void parallelFor(int64_t count, Body &&body) {
    parallelRanges(count, size(), [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t index = begin; index < end; ++index)
        body(index);
    });
  }

private:
  struct Job {
    void (*call)(const void *context, int64_t begin, int64_t end,
                 unsigned part) = nullptr;
    const void *context = nullptr;
    int64_t begin = 0, end = 0;
    unsigned parts = 0;

    void doPart(unsigned part) const;
  };

  /// A thread and its letter box. On cache lines of its own, as others poll
  /// theirs.
  struct alignas(64) Worker {
    /// Which part of a job it does.
    unsigned part = 0;
    /// The one that does the part before; null for part 1.
    Worker *previous = nullptr;
    /// Counts the jobs put into the box; the worker waits for a change.
    std::atomic<uint32_t> ticket = 0;
    /// Where it last woke up; -1 before that.
    std::atomic<int> cpu = -1;
    std::thread thread;
  };

  struct Family;
  static Family &family();
  static bool insideBody();
  void run(Job job);
  void grow(unsigned threads);
  /// Starts workers until there are \p wanted, or the system refuses. The
  /// caller holds `busy`, or nobody else knows the pool.
  void startWorkers(unsigned wanted);
  /// In a process that fork() made: the workers are not there.
  void forget();
  void work(Worker &worker);
  /// Called by a worker that was woken. Linux may put it on the processor of
  /// the one who woke it and leave it there, as neither is ever seen waiting
  /// for long; the two would then take turns at spinning for each other.
  void keepApart(Worker &worker);

  /// Changed by who holds `busy`; workers do not look here.
  std::vector<std::unique_ptr<Worker>> workers;
  /// How many there are, for those who do not hold it.
  std::atomic<unsigned> count = 0;
  /// Held by the one who has a job for the pool.
  std::mutex busy;
  Job current;
  bool isForgotten = false;
  std::atomic<int> callerCpu = -1;
  alignas(64) std::atomic<uint32_t> unfinished = 0;
  std::atomic<bool> stopping = false;
};

} // namespace sinter

#endif // SINTER_RUNTIME_THREADPOOL_H
