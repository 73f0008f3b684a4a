//===- Cancellation.h - ends a call from another thread -------------------===//

#ifndef SINTER_RUNTIME_CANCELLATION_H
#define SINTER_RUNTIME_CANCELLATION_H

#include "runtime/Result.h"

#include <atomic>
#include <string>
#include <string_view>

namespace sinter {

/// Passed to runs and other long calls, which end soon after any thread has
/// called cancel(): a run between two steps and between the tasks of a long
/// step, a compilation between passes and between kernels. Stays cancelled
/// until reset(), and outlives the calls that use it.
class Cancellation {
public:
  void cancel() { isWanted.store(true, std::memory_order_relaxed); }
  void reset() { isWanted.store(false, std::memory_order_relaxed); }
  bool isCancelled() const { return isWanted.load(std::memory_order_relaxed); }

  /// The Cancelled error of \p what if \p cancellation, which may be null, was
  /// cancelled.
  static Result<void> check(const Cancellation *cancellation,
                            std::string_view what = "the run") {
    if (cancellation && cancellation->isCancelled()) [[unlikely]]
      return error(what);
    return {};
  }
  static Error error(std::string_view what = "the run") {
    return {ErrorKind::Cancelled, std::string(what) + " was cancelled"};
  }

private:
  std::atomic<bool> isWanted = false;
};

} // namespace sinter

#endif // SINTER_RUNTIME_CANCELLATION_H
