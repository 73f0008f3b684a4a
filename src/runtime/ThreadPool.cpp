//===- ThreadPool.cpp - the threads that kernels run on -------------------===//

#include "runtime/ThreadPool.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sched.h>
#include <string>
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

/// Waits while \p value is \p old; returns the new value.
uint32_t waitForChange(const std::atomic<uint32_t> &value, uint32_t old) {
  auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
  if (!spinUntil(changed))
    while (!changed())
      value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

unsigned affinityCount() {
  // The kernel's mask may be larger than cpu_set_t.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      break;
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const bool known = ::sched_getaffinity(0, size, set) == 0;
    const int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (known)
      return static_cast<unsigned>(count);
  }
  return std::thread::hardware_concurrency();
}

/// The path of this process's control group below the mount of \p controller
/// ("" for version 2), as /proc/self/cgroup has it.
std::string controlGroup(const std::string &controller) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string names =
        "," + line.substr(first + 1, second - first - 1) + ",";
    if (names == ",,"
            ? controller.empty()
            : !controller.empty() &&
                  names.find("," + controller + ",") != std::string::npos)
      return line.substr(second + 1);
  }
  return "";
}

/// CPUs' worth of time in \p folder's limit, or infinity.
double quotaIn(const std::string &folder, bool version2) {
  double quota = -1, period = 0;
  if (version2) {
    std::ifstream file(folder + "/cpu.max");
    if (!(file >> quota >> period)) // "max 100000" is no number: no limit.
      return INFINITY;
  } else {
    std::ifstream quotaFile(folder + "/cpu.cfs_quota_us");
    std::ifstream periodFile(folder + "/cpu.cfs_period_us");
    if (!(quotaFile >> quota) || !(periodFile >> period))
      return INFINITY;
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/// The smallest limit of this process's control group and of those around it.
double cpuQuota() {
  double quota = INFINITY;
  for (bool version2 : {true, false}) {
    const std::string mount =
        version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    std::string group = controlGroup(version2 ? "" : "cpu");
    while (true) {
      quota = std::min(quota, quotaIn(mount + group, version2));
      const size_t slash = group.rfind('/');
      if (slash == std::string::npos)
        break;
      group.resize(slash);
    }
  }
  return quota;
}

} // namespace

unsigned usableCpuCount() {
  const double limit = std::min<double>(affinityCount(), std::ceil(cpuQuota()));
  return std::max(1u, static_cast<unsigned>(limit));
}

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
  unfinished.store(job.parts - 1, std::memory_order_relaxed);
  for (unsigned part = 1; part < job.parts; ++part) {
    std::atomic<uint32_t> &ticket = workers[part - 1]->ticket;
    ticket.fetch_add(1, std::memory_order_release);
    ticket.notify_one();
  }
  job.doPart(0);
  uint32_t left = unfinished.load(std::memory_order_acquire);
  while (left != 0)
    left = waitForChange(unfinished, left);
}

void ThreadPool::work(Worker &worker, unsigned part) {
  // Only those who take part in a job are told of it, so that nobody reads the
  // job while the next one is written.
  for (uint32_t seen = 0;;) {
    seen = waitForChange(worker.ticket, seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    job.doPart(part);
    if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
      unfinished.notify_one();
  }
}

} // namespace sinter
