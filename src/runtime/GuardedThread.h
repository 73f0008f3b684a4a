//===- GuardedThread.h - threads that survive fatal errors of libraries ---===//
//
// LLVM reports a fatal error to a handler, and ends the process when that
// returns; unwinding or jumping over its frames would leave locks and lists
// half done. So the handler suspends the thread for ever, with everything on
// its stack, and join() returns the error.
//
// Nobody else may change what the work refers to, except through objects that
// outlive it: threads that the work starts must be guarded and joined, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_GUARDEDTHREAD_H
#define SINTER_RUNTIME_GUARDEDTHREAD_H

#include "runtime/Result.h"

#include <functional>
#include <memory>

namespace sinter {

class GuardedThread {
public:
  /// Stack sizes for walking nested graphs, whose depth readers of models
  /// bound, and for other work.
  static constexpr size_t deepStack = size_t(512) << 20, usualStack = size_t(8)
                                                                      << 20;

  /// Starts \p work.
  GuardedThread(std::function<void()> work, size_t stackBytes);
  GuardedThread(GuardedThread &&) noexcept;
  GuardedThread &operator=(GuardedThread &&) = delete;
  /// Waits for the end of the work, unless join() has.
  ~GuardedThread();

  /// Waits for the end of the work, and rethrows its exception. Errors: the one
  /// that stopped the thread; System if it could not start.
  Result<void> join();

  /// Whether the calling thread is a guarded one.
  static bool isCurrent();
  /// Suspends the calling thread for ever; its join() returns \p error. On any
  /// other thread prints it and ends the process with its exit code.
  [[noreturn]] static void stop(const Error &error);

private:
  struct State;
  static void *enter(void *state);
  /// Waits for the thread's end.
  void finish();

  /// Null once joined.
  std::shared_ptr<State> state;
};

/// Runs \p work on a guarded thread with a deep stack and waits for it.
Result<void> runGuarded(const std::function<void()> &work);

} // namespace sinter

#endif // SINTER_RUNTIME_GUARDEDTHREAD_H
