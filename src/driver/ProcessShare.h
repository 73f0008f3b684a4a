//===- ProcessShare.h - what a process of mpirun takes --------------------===//

#ifndef SINTER_DRIVER_PROCESSSHARE_H
#define SINTER_DRIVER_PROCESSSHARE_H

#include "runtime/Result.h"

#include <cstddef>

namespace sinter::driver {

/// Things from \p first to \p end, without that.
struct ProcessShare {
  size_t first = 0, end = 0;
};

/// What this process takes of \p count things that the processes of mpirun
/// share out; without mpirun all. System error if mpirun does not say which
/// process this is.
Result<ProcessShare> shareOf(size_t count);
/// Whether there are several processes.
bool isShared();

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROCESSSHARE_H
