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

namespace sinter {

namespace {

thread_local bool isInsideBody = false;

/// Longer than the gap between two parallel steps, and still short.
constexpr std::chrono::microseconds spinTime{30};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Polls until \p done() or until spinTime is over.
template <typename Condition> bool spinUntil(Condition &&done) {
  const auto end = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

/// Waits while \p value is \p old; returns whether it had to sleep.
bool waitForChange(const std::atomic<uint32_t> &value, uint32_t old) {
  auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
  if (spinUntil(changed))
    return false;
  while (!changed())
    value.wait(old, std::memory_order_acquire);
  return true;
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

/// The pieces of a range if the pool is busy.
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
    worker->ticket.fetch_add(1, std::memory_order_release);
    worker->ticket.notify_one();
  }
  for (auto &worker : workers)
    worker->thread.join();
}

bool ThreadPool::insideBody() { return isInsideBody; }

void ThreadPool::Job::doPart(unsigned part) const {
  const int64_t count = end - begin;
  const int64_t share = count / parts, rest = count % parts;
  const int64_t first = begin + share * part + std::min<int64_t>(part, rest);
  isInsideBody = true;
  call(context, first, first + share + (part < rest ? 1 : 0), part);
  isInsideBody = false;
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
      job.doPart(static_cast<unsigned>(part));
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
    Job next = job;
    next.parts = 1;
    next.end = std::min(job.end, job.begin + piece);
    next.doPart(0);
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
  unfinished.store(job.parts - 1, std::memory_order_relaxed);
  for (unsigned part = 1; part < job.parts; ++part) {
    std::atomic<uint32_t> &ticket = workers[part - 1]->ticket;
    ticket.fetch_add(1, std::memory_order_release);
    ticket.notify_one();
  }
  job.doPart(0);
  while (uint32_t left = unfinished.load(std::memory_order_acquire))
    waitForChange(unfinished, left);
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
  // Only workers with a range are notified, so that none reads the job while
  // the next one is written.
  for (uint32_t seen = 0;; ++seen) {
    const bool slept = waitForChange(worker.ticket, seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    if (slept)
      keepApart(worker);
    current.doPart(worker.part);
    if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
      unfinished.notify_one();
  }
}

} // namespace sinter
