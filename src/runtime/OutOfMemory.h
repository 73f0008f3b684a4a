//===- OutOfMemory.h - lack of memory as an error -------------------------===//
//
// Allocations whose sizes depend on the model throw if there is no memory, and
// callers that can continue catch that (catchingOutOfMemory). LLVM is compiled
// without exceptions: if its frames lie between the two, a guarded thread is
// stopped instead (GuardedThread), and its join() returns the error.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_OUTOFMEMORY_H
#define SINTER_RUNTIME_OUTOFMEMORY_H

#include "runtime/Result.h"

#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace sinter {

/// Has the number of bytes wanted; more than can be counted if nothing.
class OutOfMemory : public std::bad_alloc {
public:
  explicit OutOfMemory(std::optional<uint64_t> bytes) : wanted(bytes) {}
  std::optional<uint64_t> bytes() const { return wanted; }
  const char *what() const noexcept override { return "out of memory"; }

private:
  std::optional<uint64_t> wanted;
};

/// During its lifetime, its thread catches exceptions for lack of memory.
class CatchesOutOfMemory {
public:
  CatchesOutOfMemory();
  CatchesOutOfMemory(const CatchesOutOfMemory &) = delete;
  CatchesOutOfMemory &operator=(const CatchesOutOfMemory &) = delete;
  ~CatchesOutOfMemory();

  /// Whether the calling thread has one.
  static bool isCurrent();
};

/// For lack of memory: throws OutOfMemory or, on a guarded thread that does not
/// catch it, stops that with the System error.
[[noreturn]] void refuseMemory(std::optional<uint64_t> bytes);

/// From now on, a guarded thread stops likewise if `new` fails and it does not
/// catch that. On other threads `new` is unchanged.
void stopThreadsWithoutMemory();

/// "not enough memory for WHAT; 123 bytes were wanted": System.
Error outOfMemoryError(const std::bad_alloc &refused, std::string_view what);

/// The Result of \p body; the System error if there is not enough memory for \p
/// what.
template <typename Body>
std::invoke_result_t<Body> catchingOutOfMemory(std::string_view what,
                                               Body &&body) {
  const CatchesOutOfMemory catches;
  try {
    return body();
  } catch (const std::bad_alloc &refused) {
    return outOfMemoryError(refused, what);
  } catch (const std::length_error &) {
    return outOfMemoryError(OutOfMemory(std::nullopt), what);
  }
}

} // namespace sinter

#endif // SINTER_RUNTIME_OUTOFMEMORY_H
