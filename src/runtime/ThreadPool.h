//===- ThreadPool.h - the threads that kernels run on ---------------------===//
//
// One pool serves a whole process and all its models. Work is split statically
// into one contiguous range per thread, so that a thread finds in its cache
// what it wrote a step before. Where a thread comes late, because it slept or
// the system runs something else, the caller takes over pieces of its range.
//
// Idle threads spin for some microseconds, the time between two steps of a
// model; while a model runs (ThreadPool::Awake) for a millisecond, as waking a
// thread takes from ten microseconds to milliseconds on virtual machines. Then
// they sleep.
//
// Several threads may submit work at the same time. The pool runs one job at a
// time; a caller that finds it busy does its work itself, task by task, until
// the pool is free for the rest: nobody waits while there is work.
//
// A pool may have no threads, but those of its host, which it asks to run
// tasks.
//
// A process made by fork() has none of its parent's threads. Its pool starts
// new threads with the first work there.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_THREADPOOL_H
#define SINTER_RUNTIME_THREADPOOL_H

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace sinter {

class ThreadPool {
public:
  /// Calls `task(data, index)` for each index in [0, count), on threads of its
  /// own choice, and returns when all are done. Threads call it at once.
  using RunTasks = std::function<void(
      size_t count, void (*task)(void *data, size_t index), void *data)>;
  /// The most tasks of such a call.
  static constexpr unsigned mostTasks = 1024;

  /// A pool of \p threads threads, the caller of parallelRanges among them; 0
  /// means usableCpuCount() of CpuCount.h. If the system refuses a thread, the
  /// pool has fewer.
  explicit ThreadPool(unsigned threads = 0);
  /// Work is done by \p runTasks, in up to \p threads (1 to mostTasks) tasks.
  /// Those that it leaves out the caller does.
  ThreadPool(unsigned threads, RunTasks runTasks);
  /// The process's pool, grown to at least \p threads (0: as above). It lives
  /// as long as it is referenced.
  static std::shared_ptr<ThreadPool> ofProcess(unsigned threads = 0);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  /// Joins the threads. No job may be running.
  ~ThreadPool();

  unsigned size() const { return count.load(std::memory_order_acquire) + 1; }

  /// While one exists, threads of the pool wait longer before they sleep. For
  /// the time of a run, whose steps may keep one thread busy for a while.
  class Awake {
  public:
    explicit Awake(ThreadPool &pool) : pool(pool) {
      pool.awake.fetch_add(1, std::memory_order_relaxed);
    }
    Awake(const Awake &) = delete;
    Awake &operator=(const Awake &) = delete;
    ~Awake() { pool.awake.fetch_sub(1, std::memory_order_relaxed); }

  private:
    ThreadPool &pool;
  };

  /// Splits [0, count) into min(threads, size(), count) ranges whose sizes
  /// differ by at most one, each for a thread, and calls `body(begin, end,
  /// thread)` for each or for pieces of it; the caller is thread 0. No two
  /// calls with one \p thread run at once. Threads other than the caller do
  /// their own ranges; the caller does pieces of ranges that nobody began, and
  /// of all if others use the pool. Returns when all are done. \p body must not
  /// throw. Called from inside a body, it does all the work itself.
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
                 unsigned thread) = nullptr;
    const void *context = nullptr;
    int64_t begin = 0, end = 0;
    unsigned parts = 0;

    struct Range {
      int64_t begin, end;
      /// The piece \p index of \p count pieces.
      Range piece(int64_t index, int64_t count) const;
    };
    Range range(unsigned part) const;
    /// Those that a part is divided into at most.
    int64_t pieces(unsigned part) const;
    void run(Range range, unsigned thread) const;
  };

  /// A thread and its mailbox, on cache lines of its own, as threads poll.
  struct alignas(64) Worker {
    /// The index of its range in a job.
    unsigned part = 0;
    /// The worker of the previous range; null for part 1.
    Worker *previous = nullptr;
    /// The number of the last job in the mailbox, times `jobStep`, and how many
    /// pieces of its range nobody has taken: the first ones. The worker waits
    /// for a change. A job whose pieces are all taken may be over.
    std::atomic<uint32_t> ticket = 0;
    static constexpr uint32_t jobStep = 8;
    /// The processor on which it last woke up; -1 before that.
    std::atomic<int> cpu = -1;
    std::thread thread;
  };

  struct Family;
  static Family &family();
  static bool insideBody();
  void run(Job job);
  void runByHost(const Job &job) const;
  /// The caller does what \p worker has not begun of `current`.
  void takeOver(Worker &worker);
  /// Waits while \p value is \p old; returns whether it had to sleep.
  bool waitForChange(const std::atomic<uint32_t> &value, uint32_t old) const;
  void grow(unsigned threads);
  /// Starts workers until there are \p wanted, or the system refuses. The
  /// caller holds `busy`, or nobody else knows the pool.
  void startWorkers(unsigned wanted);
  /// In a process that fork() made, which has no workers.
  void forget();
  void work(Worker &worker);
  /// Called by a worker after waking up. Linux may put it on the processor of
  /// the thread that woke it and leave it there, as neither ever seems to wait
  /// for long; the two would then alternate, each spinning for the other.
  void keepApart(Worker &worker);

  /// Empty: the workers do the work.
  RunTasks runTasks;
  /// Changed with `busy` held; workers do not read it.
  std::vector<std::unique_ptr<Worker>> workers;
  /// The number of workers, or of tasks but one, for readers without `busy`.
  std::atomic<unsigned> count = 0;
  /// Held by the thread whose job the pool runs.
  std::mutex busy;
  Job current;
  bool isForgotten = false;
  std::atomic<int> callerCpu = -1;
  /// Pieces of ranges of workers.
  alignas(64) std::atomic<uint32_t> unfinished = 0;
  alignas(64) std::atomic<uint32_t> awake = 0;
  std::atomic<bool> stopping = false;
};

} // namespace sinter

#endif // SINTER_RUNTIME_THREADPOOL_H
