//===- Allocator.cpp - memory of whoever runs a model ---------------------===//

#include "runtime/Allocator.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <cstring>

namespace sinter {

/// As that of tensors in our own memory.
static constexpr size_t alignmentOfTensors = 64;

std::shared_ptr<std::byte>
allocateFrom(const std::shared_ptr<Allocator> &allocator, size_t bytes,
             size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  auto *memory =
      static_cast<std::byte *>(allocator->allocate(bytes, alignment));
  if (!memory)
    return nullptr;
  std::memset(memory, 0, bytes);
  return {memory, [allocator, bytes, alignment](std::byte *done) {
            allocator->free(done, bytes, alignment);
          }};
}

Tensor makeTensor(const std::shared_ptr<Allocator> &allocator, ElementType type,
                  Shape shape, std::weak_ptr<const void> *memory) {
  if (!allocator)
    return Tensor(type, std::move(shape));
  const std::optional<int64_t> bytes = byteCount(type, shape);
  if (!bytes)
    refuseMemory(std::nullopt);
  std::shared_ptr<std::byte> given =
      allocateFrom(allocator, static_cast<size_t>(*bytes), alignmentOfTensors);
  if (!given)
    refuseMemory(static_cast<uint64_t>(*bytes));
  if (memory)
    *memory = given;
  const std::byte *data = given.get();
  return Tensor::share(type, std::move(shape), data, std::move(given));
}

} // namespace sinter
