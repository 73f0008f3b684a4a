//===- CpuCount.cpp - how many processors this process may use ------------===//

#include "runtime/CpuCount.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>

namespace sinter {

namespace {

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

} // namespace sinter
