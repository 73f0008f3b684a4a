#include "runtime/MachineMemory.h"

#include <array>
#include <cstdio>
#include <sys/sysinfo.h>

namespace sinter {

uint64_t memoryOfMachine() {
  struct sysinfo info{};
  if (::sysinfo(&info) != 0)
    return UINT64_MAX;
  return (uint64_t(info.totalram) + info.totalswap) * info.mem_unit;
}

std::string inGigabytes(uint64_t bytes) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB",
                static_cast<double>(bytes) / 1e9);
  return text.data();
}

} // namespace sinter
