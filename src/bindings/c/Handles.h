//===- Handles.h - what the handles of the C interface stand for ----------===//
//
// A handle is used by calls that are under way and freed by one that finds no
// others: each call holds the object with Use, of which there is none once it
// is being freed. The memory of freed objects, not what they hold, is kept for
// a while, so that a call with one is an error and not a read of something
// else.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BINDINGS_C_HANDLES_H
#define SINTER_BINDINGS_C_HANDLES_H

#include "runtime/Result.h"
#include "sinter.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <utility>

struct sinter_error {
  sinter::Error error;
  std::string message;
};

namespace sinter::c {

/// What every object begins with.
struct Handle {
  enum class Kind : uint32_t {
    Freed = 0,
    Options = 0x534e5401,
    Model,
    Session,
    Binding,
    Cancellation,
    Value,
    Files,
    Trainer,
    ThreadPool,
    Snapshot
  };

  explicit Handle(Kind kind) : kind(kind) {}
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() { kind.store(Kind::Freed, std::memory_order_relaxed); }

  /// Keeps the memory until some hundred others were freed.
  static void operator delete(void *memory);

  std::atomic<Kind> kind;
  /// Calls that use the object, and objects that were made of it; negative
  /// since it is being freed.
  mutable std::atomic<int32_t> users = 0;
  static constexpr int32_t isFreed = std::numeric_limits<int32_t>::min() / 2;
};

/// "session" of Kind::Session.
const char *nameOf(Handle::Kind kind);

/// Usage error if this process was forked from one that had loaded the library,
/// whose threads it lacks; System if libsinter-runtime.so is of another build.
Result<void> checkProcess();

/// Usage error if \p handle is null, of another kind, or freed.
Result<void> check(const Handle *handle, Handle::Kind kind);

/// Keeps an object while it is used.
class Use {
public:
  /// For an object that is in use already.
  explicit Use(const Handle &handle) : handle(&handle) { ++handle.users; }
  /// Usage errors as of check().
  static Result<Use> of(const Handle *handle, Handle::Kind kind);
  Use(Use &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Use &operator=(Use &&) = delete;
  ~Use() {
    if (handle)
      --handle->users;
  }

private:
  struct Counted {};
  Use(const Handle *handle, Counted) : handle(handle) {}

  const Handle *handle;
};

/// Puts \p error, if somebody wants it, into \p out.
sinter_status give(Error error, sinter_error **out);

/// Calls \p call, which gives a Result<void>, and hands over its error: no
/// exception leaves a function of C.
template <typename Call>
sinter_status guarded(sinter_error **out, Call &&call) {
  if (out)
    *out = nullptr;
  try {
    Result<void> done = checkProcess();
    if (done)
      done = call();
    return done ? SINTER_OK : give(done.takeError(), out);
  } catch (const std::bad_alloc &) {
    return give(systemError("there is not enough memory"), out);
  } catch (const std::exception &failure) {
    return give(systemError(failure.what()), out);
  } catch (...) {
    return give(systemError("an exception of a callback"), out);
  }
}

/// The same for a call that uses \p handle.
template <typename Call>
sinter_status guarded(const Handle *handle, Handle::Kind kind,
                      sinter_error **out, Call &&call) {
  return guarded(out, [&]() -> Result<void> {
    Result<Use> use = Use::of(handle, kind);
    if (!use)
      return use.takeError();
    return call();
  });
}

/// Frees \p object of \p kind, null included, unless somebody uses it.
template <typename Object>
sinter_status freeHandle(Object *object, Handle::Kind kind,
                         sinter_error **out) {
  return guarded(out, [&]() -> Result<void> {
    if (!object)
      return {};
    if (Result<void> good = check(object, kind); !good)
      return good;
    int32_t none = 0;
    if (!object->users.compare_exchange_strong(none, Handle::isFreed))
      return usageError(std::string("the ") + nameOf(kind) +
                        " is in use: by a call of another thread, or by an "
                        "object that was made of it");
    delete object;
    return {};
  });
}

/// Usage error for a null pointer called \p name.
template <typename Pointee>
Result<void> checkPointer(Pointee *pointer, const char *name) {
  if (!pointer)
    return usageError(std::string(name) + " is NULL");
  return {};
}

/// Usage error unless \p size, of a struct of the caller, is that of a version
/// of it that the library knows: \p least bytes up to \p ours.
Result<void> checkSize(size_t size, size_t least, size_t ours,
                       const std::string &name);

/// Copies a struct of the library's version to a caller's, of which as much is
/// written as the caller's version has.
template <typename Struct>
Result<void> giveStruct(const Struct &from, Struct *to, const char *name) {
  if (Result<void> good = checkPointer(to, name); !good)
    return good;
  const size_t size = to->struct_size;
  if (Result<void> good = checkSize(size, sizeof(size_t), sizeof(Struct), name);
      !good)
    return good;
  std::memcpy(reinterpret_cast<char *>(to) + sizeof(size_t),
              reinterpret_cast<const char *>(&from) + sizeof(size_t),
              size - sizeof(size_t));
  return {};
}

/// A copy of a caller's struct, of the version that the library has had so far.
template <typename Struct>
Result<Struct> takeStruct(const Struct *from, const char *name) {
  if (Result<void> good = checkPointer(from, name); !good)
    return good.takeError();
  if (Result<void> good =
          checkSize(from->struct_size, sizeof(Struct), sizeof(Struct), name);
      !good)
    return good.takeError();
  return *from;
}

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_HANDLES_H
