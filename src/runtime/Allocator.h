//===- Allocator.h - memory of whoever runs a model -----------------------===//

#ifndef SINTER_RUNTIME_ALLOCATOR_H
#define SINTER_RUNTIME_ALLOCATOR_H

#include "runtime/Tensor.h"

#include <cstddef>
#include <memory>

namespace sinter {

/// Gives memory to executors. Threads may call it at once. It outlives all that
/// it gave.
class Allocator {
public:
  virtual ~Allocator() = default;

  /// \p bytes, at least 1, at a multiple of \p alignment, a power of two; null
  /// if there are none.
  virtual void *allocate(size_t bytes, size_t alignment) = 0;
  virtual void free(void *memory, size_t bytes, size_t alignment) = 0;
};

/// Zeroed bytes of \p allocator at a multiple of \p alignment, which the last
/// user frees; null if there are none.
std::shared_ptr<std::byte>
allocateFrom(const std::shared_ptr<Allocator> &allocator, size_t bytes,
             size_t alignment);

/// A zeroed tensor whose memory is \p allocator's, or that of `new` if it is
/// null. \p memory, which may be null, gets an allocator's. Without memory: see
/// Tensor's constructor.
Tensor makeTensor(const std::shared_ptr<Allocator> &allocator, ElementType type,
                  Shape shape, std::weak_ptr<const void> *memory = nullptr);

} // namespace sinter

#endif // SINTER_RUNTIME_ALLOCATOR_H
