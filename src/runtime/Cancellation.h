//===- Cancellation.h - ends a run from another thread --------------------===//

#ifndef SINTER_RUNTIME_CANCELLATION_H
#define SINTER_RUNTIME_CANCELLATION_H

#include "runtime/Result.h"

#include <atomic>

namespace sinter {

/// Passed to runs, which end soon after any thread has called cancel(): between
/// two steps, and between the tasks of a long step. Stays cancelled until
/// reset(), and outlives the runs that use it.
class Cancellation {
public:
  void cancel() { isWanted.store(true, std::memory_order_relaxed); }
  void reset() { isWanted.store(false, std::memory_order_relaxed); }
  bool isCancelled() const { return isWanted.load(std::memory_order_relaxed); }

  /// The Cancelled error of a run if \p cancellation, which may be null, was
  /// cancelled.
  static Result<void> check(const Cancellation *cancellation) {
    if (cancellation && cancellation->isCancelled()) [[unlikely]]
      return error();
    return {};
  }
  static Error error() {
    return {ErrorKind::Cancelled, "the run was cancelled"};
  }

private:
  std::atomic<bool> isWanted = false;
};

} // namespace sinter

#endif // SINTER_RUNTIME_CANCELLATION_H
