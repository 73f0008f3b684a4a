//===- CpuCount.h - how many processors this process may use --------------===//

#ifndef SINTER_RUNTIME_CPUCOUNT_H
#define SINTER_RUNTIME_CPUCOUNT_H

namespace sinter {

/// The processors this process may use: its affinity mask, limited by its
/// control group's CPU quota (rounded up). At least 1.
unsigned usableCpuCount();

} // namespace sinter

#endif // SINTER_RUNTIME_CPUCOUNT_H
