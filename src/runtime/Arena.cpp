//===- Arena.cpp - one large block of memory for temporaries --------------===//

#include "runtime/Arena.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace sinter {

static constexpr size_t hugePage = size_t(2) << 20;

static constexpr size_t page = 4096;

static Error noMemory(size_t bytes, const std::string &why) {
  return systemError("cannot allocate " + std::to_string(bytes) +
                     " bytes for temporaries: " + why);
}

Result<Arena> Arena::allocate(size_t bytes,
                              std::shared_ptr<Allocator> allocator) {
  Arena arena(std::move(allocator));
  if (bytes == 0)
    return arena;
  if (arena.allocator) {
    arena.allocated = allocateFrom(arena.allocator, bytes, page);
    if (!arena.allocated)
      return noMemory(bytes, "the allocator has none");
    arena.begin = arena.allocated.get();
    arena.bytes = bytes;
    return arena;
  }
  const size_t slack = bytes >= hugePage ? hugePage : 0;
  void *mapping = bytes > SIZE_MAX - slack
                      ? MAP_FAILED
                      : ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return noMemory(bytes, std::strerror(errno));
  arena.mapping = mapping;
  arena.mappedBytes = bytes + slack;
  arena.bytes = bytes;
  arena.begin = static_cast<std::byte *>(mapping);
  if (slack != 0) {
    arena.begin += (0 - reinterpret_cast<uintptr_t>(mapping)) % hugePage;
    // A hint only: without huge pages everything works, a little slower.
    ::madvise(arena.begin, bytes, MADV_HUGEPAGE);
  }
  return arena;
}

Result<void> Arena::grow(size_t wanted, size_t kept) {
  if (wanted <= bytes)
    return {};
  Result<Arena> larger =
      allocate(wanted + (kept != 0 ? wanted / 2 : 0), allocator);
  if (!larger && kept != 0)
    larger = allocate(wanted, allocator);
  if (!larger)
    return larger.takeError();
  if (kept != 0)
    std::memcpy(larger->data(), begin, kept);
  *this = std::move(*larger);
  return {};
}

Arena::Arena(Arena &&other) noexcept
    : allocator(std::move(other.allocator)),
      allocated(std::move(other.allocated)),
      mapping(std::exchange(other.mapping, nullptr)),
      mappedBytes(other.mappedBytes),
      begin(std::exchange(other.begin, nullptr)),
      bytes(std::exchange(other.bytes, 0)) {}

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(allocator, other.allocator);
  std::swap(allocated, other.allocated);
  std::swap(mapping, other.mapping);
  std::swap(mappedBytes, other.mappedBytes);
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  return *this;
}

Arena::~Arena() {
  if (mapping)
    ::munmap(mapping, mappedBytes);
}

} // namespace sinter
