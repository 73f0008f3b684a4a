//===- MappedPages.cpp - releases pages of mapped files -------------------===//

#include "runtime/MappedPages.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace sinter {

namespace {

struct Mappings {
  std::mutex mutex;
  /// The end of each mapping, by its begin.
  std::map<uintptr_t, uintptr_t> ends;
};

/// Never destroyed: files are unmapped until the process ends.
Mappings &mappings() {
  static auto *all = new Mappings;
  return *all;
}

uintptr_t beginOf(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data());
}

} // namespace

void addMappedPages(std::span<const std::byte> mapping) {
  const std::scoped_lock lock(mappings().mutex);
  mappings().ends[beginOf(mapping)] = beginOf(mapping) + mapping.size();
}

void removeMappedPages(std::span<const std::byte> mapping) {
  const std::scoped_lock lock(mappings().mutex);
  mappings().ends.erase(beginOf(mapping));
}

void releasePages(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t first = (beginOf(bytes) + page - 1) / page * page;
  const uintptr_t last = (beginOf(bytes) + bytes.size()) / page * page;
  // Private memory would be zeroed, so the lock is held: nobody unmaps the file
  // and maps something else there meanwhile.
  const std::scoped_lock lock(mappings().mutex);
  auto after = mappings().ends.upper_bound(beginOf(bytes));
  if (first >= last || after == mappings().ends.begin())
    return;
  if (beginOf(bytes) + bytes.size() <= std::prev(after)->second)
    ::madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

} // namespace sinter
