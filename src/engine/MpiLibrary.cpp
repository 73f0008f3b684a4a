#include "engine/MpiLibrary.h"

#include "engine/LibraryFiles.h"
#include "runtime/mpi/MpiCommunicator.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace sinter {

/// Open MPI's variable, and the PMI variable of others.
static const char *sizeText() {
  const char *text = std::getenv("OMPI_COMM_WORLD_SIZE");
  return text ? text : std::getenv("PMI_SIZE");
}

bool isUnderMpi() { return sizeText() != nullptr; }

/// The number in \p text, which may be null.
static std::optional<uint32_t> numberIn(const char *text) {
  if (!text)
    return std::nullopt;
  uint32_t number = 0;
  const char *end = text + std::strlen(text);
  const auto [rest, failed] = std::from_chars(text, end, number);
  if (failed != std::errc() || rest != end)
    return std::nullopt;
  return number;
}

std::optional<uint32_t> mpiProcesses() {
  const std::optional<uint32_t> count = numberIn(sizeText());
  return count && *count > 0 ? count : std::nullopt;
}

std::optional<uint32_t> mpiRank() {
  const char *text = std::getenv("OMPI_COMM_WORLD_RANK");
  return numberIn(text ? text : std::getenv("PMI_RANK"));
}

Result<std::unique_ptr<Communicator>> connectMpi(const ProcessGrid &grid) {
  const std::string path = besideRuntime("libsinter-mpi.so");
  // MPI's own plugins need its symbols.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return systemError(std::string("MPI cannot be used: ") + ::dlerror() +
                       " (was Sinter built where Open MPI is installed?)");
  void *entry = ::dlsym(library, mpiEntry);
  if (!entry)
    return systemError("'" + path + "' is not Sinter's");
  void *contract = ::dlsym(library, mpiContractEntry);
  if (Result<void> fits = checkContract(
          path, contract ? reinterpret_cast<MpiContractEntry *>(contract)()
                         : nullptr);
      !fits)
    return fits.takeError();
  Result<std::unique_ptr<Communicator>> result =
      systemError("MPI was not started");
  reinterpret_cast<MpiEntry *>(entry)(grid, result);
  return result;
}

} // namespace sinter
