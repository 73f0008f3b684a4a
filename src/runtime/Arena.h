//===- Arena.h - one large block of memory for temporaries ----------------===//

#ifndef SINTER_RUNTIME_ARENA_H
#define SINTER_RUNTIME_ARENA_H

#include "runtime/Allocator.h"
#include "runtime/Result.h"

#include <cstddef>
#include <memory>

namespace sinter {

/// Zeroed memory straight from the system, or from an allocator. That of the
/// system is aligned from 2 MB on so that it can be huge pages, and asks for
/// them; that of an allocator is aligned to a page.
class Arena {
public:
  Arena() = default;
  explicit Arena(std::shared_ptr<Allocator> allocator)
      : allocator(std::move(allocator)) {}
  static Result<Arena> allocate(size_t bytes,
                                std::shared_ptr<Allocator> allocator = nullptr);
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
  /// Null: the system.
  std::shared_ptr<Allocator> allocator;
  std::shared_ptr<std::byte> allocated;
  void *mapping = nullptr;
  size_t mappedBytes = 0;
  std::byte *begin = nullptr;
  size_t bytes = 0;
};

} // namespace sinter

#endif // SINTER_RUNTIME_ARENA_H
