//===- ThreadPool.cpp - the threads that kernels run on -------------------===//

#include "runtime/ThreadPool.h"
#include "runtime/CpuCount.h"

#include <chrono>
#include <sched.h>
#include <system_error>

namespace sinter {

namespace {

thread_local bool isInsideBody = false;

/// Longer than the gap between two parallel steps, shorter than anybody minds.
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

/// Waits while \p value is \p old; returns whether it had to sleep for it.
bool waitForChange(const std::atomic<uint32_t> &value, uint32_t old) {
  auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
  if (spinUntil(changed))
    return false;
  while (!changed())
    value.wait(old, std::memory_order_acquire);
  return true;
}

/// Moves the calling thread to a processor that is not in \p taken, if it may
/// use one, and leaves what it may use as it was.
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

} // namespace

ThreadPool::ThreadPool(unsigned threads) {
  if (threads == 0)
    threads = usableCpuCount();
  for (unsigned part = 1; part < threads; ++part) {
    auto worker = std::make_unique<Worker>();
    try {
      worker->thread =
          std::thread([this, part, box = worker.get()] { work(*box, part); });
    } catch (const std::system_error &) {
      return;
    }
    workers.push_back(std::move(worker));
  }
}

ThreadPool::~ThreadPool() {
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
  const int64_t share = count / parts, rest = count % parts;
  const int64_t begin = share * part + std::min<int64_t>(part, rest);
  const int64_t end = begin + share + (part < rest ? 1 : 0);
  isInsideBody = true;
  call(context, begin, end, part);
  isInsideBody = false;
}

void ThreadPool::run(const Job &newJob) {
  std::lock_guard lock(busy);
  job = newJob;
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

void ThreadPool::keepApart(unsigned part) {
  const int own = ::sched_getcpu();
  workers[part - 1]->cpu.store(own, std::memory_order_relaxed);
  cpu_set_t taken;
  CPU_ZERO(&taken);
  const auto take = [&](const std::atomic<int> &cpu) {
    const int number = cpu.load(std::memory_order_relaxed);
    if (number >= 0 && number < CPU_SETSIZE)
      CPU_SET(number, &taken);
  };
  // Only the later part gives way, or two would change places for ever.
  take(callerCpu);
  for (unsigned other = 1; other < part; ++other)
    take(workers[other - 1]->cpu);
  if (own >= 0 && own < CPU_SETSIZE && CPU_ISSET(own, &taken)) {
    moveAwayFrom(taken);
    workers[part - 1]->cpu.store(::sched_getcpu(), std::memory_order_relaxed);
  }
}

void ThreadPool::work(Worker &worker, unsigned part) {
  // Only those who take part in a job are told of it, so that nobody reads the
  // job while the next one is written.
  for (uint32_t seen = 0;; ++seen) {
    const bool slept = waitForChange(worker.ticket, seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    if (slept)
      keepApart(part);
    job.doPart(part);
    if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
      unfinished.notify_one();
  }
}

} // namespace sinter
