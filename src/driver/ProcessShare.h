//===- ProcessShare.h - what a process of mpirun takes --------------------===//

#ifndef SINTER_DRIVER_PROCESSSHARE_H
#define SINTER_DRIVER_PROCESSSHARE_H

#include "runtime/Result.h"

#include <cstddef>
#include <string>
#include <vector>

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
/// Whether \p source, of an option, is standard input: "-", or "x=-".
bool readsStandardInput(const std::string &source);
/// Usage error if one of several processes would read one of \p sources, those
/// of \p option, from standard input.
Result<void> checkShared(const std::string &option,
                         const std::vector<std::string> &sources);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROCESSSHARE_H
