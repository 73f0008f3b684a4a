//===- HostAllocator.h - memory of the caller of the C interface ----------===//

#ifndef SINTER_BINDINGS_C_HOSTALLOCATOR_H
#define SINTER_BINDINGS_C_HOSTALLOCATOR_H

#include "runtime/Allocator.h"
#include "runtime/Tensor.h"
#include "sinter.h"

#include <memory>
#include <mutex>
#include <set>

namespace sinter::c {

class HostAllocator : public Allocator {
public:
  /// Usage error if a function is missing.
  static Result<std::shared_ptr<HostAllocator>>
  of(const sinter_allocator *given);

  /// Throws if the caller's function breaks its contract.
  void *allocate(size_t bytes, size_t alignment) override;
  void free(void *memory, size_t bytes, size_t alignment) override;

  /// \p tensor, if it is in this memory, else a copy there.
  static Tensor moved(const std::shared_ptr<HostAllocator> &to, Tensor tensor);

private:
  explicit HostAllocator(const sinter_allocator &host) : host(host) {}

  sinter_allocator host;
  std::mutex mutex;
  std::set<const void *> given;
};

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_HOSTALLOCATOR_H
