#include "driver/ProcessShare.h"

#include "engine/MpiLibrary.h"

namespace sinter::driver {

bool isShared() { return mpiProcesses().value_or(1) > 1; }

Result<ProcessShare> shareOf(size_t count) {
  if (!isShared())
    return ProcessShare{0, count};
  const uint32_t processes = *mpiProcesses();
  const std::optional<uint32_t> rank = mpiRank();
  if (!rank || *rank >= processes)
    return systemError("mpirun does not say which of its " +
                       std::to_string(processes) + " processes this is");
  return ProcessShare{count * *rank / processes,
                      count * (*rank + 1) / processes};
}

} // namespace sinter::driver
