//===- HostAllocator.cpp - memory of the caller of the C interface --------===//

#include "bindings/c/HostAllocator.h"

#include "bindings/c/Handles.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace sinter::c {

Result<std::shared_ptr<HostAllocator>>
HostAllocator::of(const sinter_allocator *given) {
  Result<sinter_allocator> host = takeStruct(given, "allocator");
  if (!host)
    return host.takeError();
  if (Result<void> good = checkPointer(host->allocate, "allocator.allocate");
      !good)
    return good.takeError();
  if (Result<void> good = checkPointer(host->release, "allocator.release");
      !good)
    return good.takeError();
  return std::shared_ptr<HostAllocator>(new HostAllocator(*host));
}

void *HostAllocator::allocate(size_t bytes, size_t alignment) {
  void *memory = host.allocate(host.user, bytes, alignment);
  if (!memory)
    return nullptr;
  if (reinterpret_cast<uintptr_t>(memory) % alignment != 0) {
    host.release(host.user, memory, bytes, alignment);
    throw std::runtime_error(
        "the allocator gave memory that is not aligned to " +
        std::to_string(alignment) + " bytes");
  }
  const std::lock_guard lock(mutex);
  given.insert(memory);
  return memory;
}

void HostAllocator::free(void *memory, size_t bytes, size_t alignment) {
  {
    const std::lock_guard lock(mutex);
    given.erase(memory);
  }
  host.release(host.user, memory, bytes, alignment);
}

Tensor HostAllocator::moved(const std::shared_ptr<HostAllocator> &to,
                            Tensor tensor) {
  if (!to)
    return tensor;
  {
    const std::lock_guard lock(to->mutex);
    if (to->given.contains(tensor.data()))
      return tensor;
  }
  Tensor copy = makeTensor(to, tensor.type(), tensor.shape());
  if (copy.bytes() != 0)
    std::memcpy(copy.mutableBytes(), tensor.data(), copy.bytes());
  return copy;
}

} // namespace sinter::c
