//===- Arena.h - one large block of memory for temporaries ----------------===//

#ifndef SINTER_RUNTIME_ARENA_H
#define SINTER_RUNTIME_ARENA_H

#include "runtime/Result.h"

#include <cstddef>

namespace sinter {

/// Zeroed memory straight from the system. From 2 MB on it is aligned so that
/// the system can back it with huge pages, and asks for them.
class Arena {
public:
  Arena() = default;
  static Result<Arena> allocate(size_t bytes);
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  /// Grows to at least \p wanted bytes. The first \p kept bytes keep their
  /// contents; if there are some, it grows by at least half, so that repeated
  /// growth does not copy everything each time. Pages that are never touched
  /// take no memory.
  Result<void> grow(size_t wanted, size_t kept = 0);

  std::byte *data() const { return begin; }
  size_t size() const { return bytes; }

private:
  void *mapping = nullptr;
  size_t mappedBytes = 0;
  std::byte *begin = nullptr;
  size_t bytes = 0;
};

} // namespace sinter

#endif // SINTER_RUNTIME_ARENA_H
