#include "driver/ProcessShare.h"

#include "engine/MpiLibrary.h"

#include <algorithm>

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

bool readsStandardInput(const std::string &source) {
  return source == "-" || source.ends_with("=-");
}

Result<void> checkShared(const std::string &option,
                         const std::vector<std::string> &sources) {
  if (!std::ranges::any_of(sources, readsStandardInput) || !isShared())
    return {};
  return usageError(option + " -: the processes of mpirun cannot share "
                             "standard input; give a list (@FILE)");
}

} // namespace sinter::driver
