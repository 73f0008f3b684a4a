//===- ThreadPool.cpp - the threads that kernels run on -------------------===//

#include "runtime/ThreadPool.h"
#include "runtime/CpuCount.h"

#include <array>
#include <chrono>
#include <exception>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <system_error>
#include <thread>

namespace sinter {

namespace {

thread_local bool isInsideBody = false;

/// Longer than the gap between most parallel steps, and still short.
constexpr std::chrono::microseconds spinTime{30};
/// How long a thread is awake without work while a model runs.
constexpr std::chrono::microseconds awakeTime{1000};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Moves the calling thread to a processor outside of \p taken, if its affinity
/// allows one; the affinity stays the same.
void moveAwayFrom(const cpu_set_t &taken) {
  cpu_set_t allowed, free;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  // allowed and not taken
  CPU_AND(&free, &allowed, &taken);
  CPU_XOR(&free, &free, &allowed);
  if (CPU_COUNT(&free) == 0)
    return;
  ::sched_setaffinity(0, sizeof(free), &free);
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
}

/// The pieces of a range that may be done one by one.
constexpr int64_t piecesPerPart = 4;

} // namespace

/// All pools, for fork().
struct ThreadPool::Family {
  /// Locked in this order, `ofProcess` first; both during a fork.
  std::mutex ofProcessMutex, mutex;
  std::weak_ptr<ThreadPool> ofProcess;
  std::set<ThreadPool *> pools;
  /// Leaked: state of threads that do not exist in the child can be neither
  /// joined nor destroyed.
  std::vector<std::unique_ptr<Worker>> lost;

  Family() {
    ::pthread_atfork(
        [] {
          family().ofProcessMutex.lock();
          family().mutex.lock();
        },
        [] {
          family().mutex.unlock();
          family().ofProcessMutex.unlock();
        },
        [] {
          for (ThreadPool *pool : family().pools)
            pool->forget();
          family().mutex.unlock();
          family().ofProcessMutex.unlock();
        });
  }
};

/// Never destroyed: fork() may be called until the process ends.
ThreadPool::Family &ThreadPool::family() {
  static auto *all = new Family;
  return *all;
}

ThreadPool::ThreadPool(unsigned threads) {
  startWorkers((threads == 0 ? usableCpuCount() : threads) - 1);
  const std::lock_guard lock(family().mutex);
  family().pools.insert(this);
}

ThreadPool::ThreadPool(unsigned threads, RunTasks runTasks)
    : runTasks(std::move(runTasks)),
      count(std::clamp(threads, 1u, mostTasks) - 1) {
  const std::lock_guard lock(family().mutex);
  family().pools.insert(this);
}

std::shared_ptr<ThreadPool> ThreadPool::ofProcess(unsigned threads) {
  const std::lock_guard lock(family().ofProcessMutex);
  if (std::shared_ptr<ThreadPool> pool = family().ofProcess.lock()) {
    pool->grow(threads);
    return pool;
  }
  auto pool = std::make_shared<ThreadPool>(threads);
  family().ofProcess = pool;
  return pool;
}

void ThreadPool::grow(unsigned threads) {
  if (threads == 0)
    threads = usableCpuCount();
  if (threads <= size())
    return;
  const std::lock_guard lock(busy);
  startWorkers(threads - 1);
}

void ThreadPool::startWorkers(unsigned wanted) {
  while (workers.size() < wanted) {
    auto worker = std::make_unique<Worker>();
    worker->part = static_cast<unsigned>(workers.size()) + 1;
    worker->previous = workers.empty() ? nullptr : workers.back().get();
    try {
      worker->thread = std::thread([this, box = worker.get()] { work(*box); });
    } catch (const std::system_error &) {
      break;
    }
    workers.push_back(std::move(worker));
  }
  count.store(static_cast<unsigned>(workers.size()), std::memory_order_release);
}

void ThreadPool::forget() {
  // Its holder does not exist here either.
  new (&busy) std::mutex;
  isForgotten = true;
  for (auto &worker : workers)
    family().lost.push_back(std::move(worker));
  workers.clear();
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(family().mutex);
    family().pools.erase(this);
  }
  stopping.store(true, std::memory_order_relaxed);
  for (auto &worker : workers) {
    worker->ticket.fetch_add(Worker::jobStep, std::memory_order_release);
    worker->ticket.notify_one();
  }
  for (auto &worker : workers)
    worker->thread.join();
}

bool ThreadPool::insideBody() { return isInsideBody; }

ThreadPool::Job::Range ThreadPool::Job::Range::piece(int64_t index,
                                                     int64_t count) const {
  const int64_t share = (end - begin) / count, rest = (end - begin) % count;
  const int64_t first = begin + share * index + std::min(index, rest);
  return {first, first + share + (index < rest ? 1 : 0)};
}

ThreadPool::Job::Range ThreadPool::Job::range(unsigned part) const {
  return Range{begin, end}.piece(part, parts);
}

int64_t ThreadPool::Job::pieces(unsigned part) const {
  // A worker's ticket counts them below the number of the job.
  static_assert(piecesPerPart < Worker::jobStep);
  const Range all = range(part);
  return std::min(piecesPerPart, all.end - all.begin);
}

void ThreadPool::Job::run(Range range, unsigned thread) const {
  isInsideBody = true;
  call(context, range.begin, range.end, thread);
  isInsideBody = false;
}

bool ThreadPool::waitForChange(const std::atomic<uint32_t> &value,
                               uint32_t old) const {
  using Clock = std::chrono::steady_clock;
  auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
  const Clock::time_point begin = Clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (changed())
        return false;
      relax();
    }
  } while (Clock::now() < begin + spinTime);
  // Other threads of the system come first now.
  while (awake.load(std::memory_order_relaxed) != 0 &&
         Clock::now() < begin + awakeTime) {
    std::this_thread::yield();
    if (changed())
      return false;
  }
  while (!changed())
    value.wait(old, std::memory_order_acquire);
  return true;
}

namespace {

/// The parts of a job that were begun, a bit each, and how many are done.
struct BegunParts {
  static constexpr unsigned bits = 64;

  /// Whether the caller is to do \p part.
  bool take(unsigned part) {
    const uint64_t bit = uint64_t(1) << part % bits;
    return !(begun[part / bits].fetch_or(bit, std::memory_order_relaxed) & bit);
  }

  std::array<std::atomic<uint64_t>, ThreadPool::mostTasks / bits> begun = {};
  std::atomic<uint32_t> done = 0;
};

} // namespace

/// A host may err: leave tasks out, call some twice, return before they are
/// done.
void ThreadPool::runByHost(const Job &job) const {
  struct Tasks {
    const Job &job;
    BegunParts parts;

    void run(size_t part) {
      if (part >= job.parts || !parts.take(static_cast<unsigned>(part)))
        return;
      job.run(job.range(static_cast<unsigned>(part)),
              static_cast<unsigned>(part));
      parts.done.fetch_add(1, std::memory_order_acq_rel);
    }
  } tasks{job, {}};
  std::exception_ptr failure;
  try {
    runTasks(
        job.parts,
        [](void *data, size_t index) {
          static_cast<Tasks *>(data)->run(index);
        },
        &tasks);
  } catch (...) {
    failure = std::current_exception();
  }
  for (unsigned part = 0; part < job.parts; ++part)
    tasks.run(part);
  while (tasks.parts.done.load(std::memory_order_acquire) != job.parts)
    std::this_thread::yield();
  if (failure)
    std::rethrow_exception(failure);
}

void ThreadPool::run(Job job) {
  if (runTasks)
    return runByHost(job);
  const int64_t piece =
      std::max<int64_t>(1, (job.end - job.begin) / (job.parts * piecesPerPart));
  std::unique_lock lock(busy, std::try_to_lock);
  while (!lock.owns_lock()) {
    const Job::Range next = {job.begin, std::min(job.end, job.begin + piece)};
    job.run(next, 0);
    job.begin = next.end;
    if (job.begin == job.end)
      return;
    static_cast<void>(lock.try_lock());
  }
  if (isForgotten) {
    isForgotten = false;
    startWorkers(count.load(std::memory_order_relaxed));
  }
  // Pieces may be done, and threads refused, since ranges were computed.
  job.parts = static_cast<unsigned>(std::min<int64_t>(
      {job.parts, job.end - job.begin, int64_t(workers.size()) + 1}));
  current = job;
  callerCpu.store(::sched_getcpu(), std::memory_order_relaxed);
  uint32_t offered = 0;
  for (unsigned part = 1; part < job.parts; ++part)
    offered += static_cast<uint32_t>(job.pieces(part));
  unfinished.store(offered, std::memory_order_relaxed);
  for (unsigned part = 1; part < job.parts; ++part) {
    std::atomic<uint32_t> &ticket = workers[part - 1]->ticket;
    ticket.store(ticket.load(std::memory_order_relaxed) + Worker::jobStep +
                     static_cast<uint32_t>(job.pieces(part)),
                 std::memory_order_release);
    ticket.notify_one();
  }
  job.run(job.range(0), 0);
  for (unsigned part = 1; part < job.parts; ++part)
    takeOver(*workers[part - 1]);
  while (uint32_t left = unfinished.load(std::memory_order_acquire))
    waitForChange(unfinished, left);
}

void ThreadPool::takeOver(Worker &worker) {
  uint32_t ticket = worker.ticket.load(std::memory_order_relaxed);
  while (const uint32_t left = ticket % Worker::jobStep) {
    if (!worker.ticket.compare_exchange_weak(ticket, ticket - 1,
                                             std::memory_order_acq_rel,
                                             std::memory_order_relaxed))
      continue;
    --ticket;
    current.run(
        current.range(worker.part).piece(left - 1, current.pieces(worker.part)),
        0);
    unfinished.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void ThreadPool::keepApart(Worker &worker) {
  const int own = ::sched_getcpu();
  worker.cpu.store(own, std::memory_order_relaxed);
  cpu_set_t taken;
  CPU_ZERO(&taken);
  const auto take = [&](const std::atomic<int> &cpu) {
    const int number = cpu.load(std::memory_order_relaxed);
    if (number >= 0 && number < CPU_SETSIZE)
      CPU_SET(number, &taken);
  };
  // Only the later range gives way, or two would swap for ever.
  take(callerCpu);
  for (const Worker *other = worker.previous; other; other = other->previous)
    take(other->cpu);
  if (own >= 0 && own < CPU_SETSIZE && CPU_ISSET(own, &taken)) {
    moveAwayFrom(taken);
    worker.cpu.store(::sched_getcpu(), std::memory_order_relaxed);
  }
}

void ThreadPool::work(Worker &worker) {
  uint32_t ticket = 0;
  while (true) {
    const uint32_t left = ticket % Worker::jobStep;
    if (left == 0) {
      if (waitForChange(worker.ticket, ticket))
        keepApart(worker);
      if (stopping.load(std::memory_order_relaxed))
        return;
      ticket = worker.ticket.load(std::memory_order_acquire);
      continue;
    }
    // The caller waits for pieces that are taken, so that no other job is
    // written while this one is read.
    if (!worker.ticket.compare_exchange_weak(ticket, ticket - left,
                                             std::memory_order_acq_rel,
                                             std::memory_order_acquire))
      continue;
    ticket -= left;
    const Job::Range range = current.range(worker.part);
    const int64_t pieces = current.pieces(worker.part);
    current.run({range.begin, range.piece(left - 1, pieces).end}, worker.part);
    if (unfinished.fetch_sub(left, std::memory_order_acq_rel) == left)
      unfinished.notify_one();
  }
}

} // namespace sinter
