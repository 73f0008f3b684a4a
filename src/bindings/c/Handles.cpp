//===- Handles.cpp - what the handles of the C interface stand for --------===//

#include "bindings/c/Handles.h"

#include "engine/LibraryFiles.h"
#include "runtime/LibraryContract.h"

#include <array>
#include <mutex>
#include <pthread.h>

namespace sinter::c {

const char *nameOf(Handle::Kind kind) {
  switch (kind) {
  case Handle::Kind::Options:
    return "options";
  case Handle::Kind::Model:
    return "model";
  case Handle::Kind::Session:
    return "session";
  case Handle::Kind::Binding:
    return "binding";
  case Handle::Kind::Cancellation:
    return "cancellation";
  case Handle::Kind::Value:
    return "value";
  case Handle::Kind::Files:
    return "files";
  case Handle::Kind::Trainer:
    return "trainer";
  case Handle::Kind::ThreadPool:
    return "thread pool";
  case Handle::Kind::Snapshot:
    return "snapshot";
  case Handle::Kind::Freed:
    break;
  }
  return "object";
}

void Handle::operator delete(void *memory) {
  // Compilers may leave out what a destructor stores last. Other threads may be
  // looking.
  std::atomic_ref(*static_cast<Kind *>(memory))
      .store(Kind::Freed, std::memory_order_relaxed);
  static constinit std::mutex mutex;
  static constinit std::array<void *, 256> freed = {};
  static constinit size_t next = 0;
  const std::lock_guard lock(mutex);
  std::swap(memory, freed[next]);
  next = (next + 1) % freed.size();
  ::operator delete(memory);
}

static std::atomic<bool> forked = false;

/// Children hear of it before they return from fork().
[[maybe_unused]] static const int whenForked =
    ::pthread_atfork(nullptr, nullptr, [] { forked = true; });

Result<void> checkProcess() {
  if (forked.load(std::memory_order_relaxed))
    return usageError("this process was forked from one that uses Sinter, and "
                      "may only start another program");
  static const Result<void> &fits =
      *new Result<void>(checkContract("libsinter.so", libraryContract));
  return fits;
}

Result<void> check(const Handle *handle, Handle::Kind kind) {
  const std::string what = nameOf(kind);
  if (!handle)
    return usageError(what + " is NULL");
  if (handle->kind.load(std::memory_order_relaxed) != kind)
    return usageError("this is no " + what + ", or one that was freed");
  return {};
}

Result<Use> Use::of(const Handle *handle, Handle::Kind kind) {
  if (Result<void> good = check(handle, kind); !good)
    return good.takeError();
  if (handle->users.fetch_add(1) >= 0)
    return Use(handle, Use::Counted());
  --handle->users;
  return usageError(std::string("the ") + nameOf(kind) + " is being freed");
}

Result<void> checkSize(size_t size, size_t least, size_t ours,
                       const std::string &name) {
  if (size > ours)
    return usageError(name + ": struct_size is " + std::to_string(size) +
                      ", and the library knows " + std::to_string(ours) +
                      " bytes of it: the program is for a newer Sinter");
  if (size < least)
    return usageError(name + ": struct_size is not set");
  return {};
}

sinter_status give(Error error, sinter_error **out) {
  const auto status = static_cast<sinter_status>(error.kind);
  if (!out)
    return status;
  try {
    std::string message = error.message();
    *out = new sinter_error{std::move(error), std::move(message)};
  } catch (const std::bad_alloc &) {
    // The status has to do.
    *out = nullptr;
  }
  return status;
}

} // namespace sinter::c
