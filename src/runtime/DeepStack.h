//===- DeepStack.h - calls that need a deep stack -------------------------===//
//
// Graphs nest, and the functions that walk them recurse deeper than the stack
// of an ordinary thread allows. So they run on a guarded thread with a deep
// stack (GuardedThread.h), and may be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_DEEPSTACK_H
#define SINTER_RUNTIME_DEEPSTACK_H

#include "runtime/Result.h"

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace sinter {

/// Whether the calling thread is such a thread.
bool hasDeepStack();

/// Runs \p work on a deep stack: here if the calling thread has one, else on a
/// guarded thread. Errors: the one that stopped the thread; System for an
/// exception, and if no thread can be started.
Result<void> onDeepStack(const std::function<void()> &work);

/// The same on a new guarded thread in any case, so that a fatal error of LLVM
/// ends only this call.
Result<void> onOwnDeepStack(const std::function<void()> &work);

/// The Result of \p work on a deep stack, or an error as above.
template <typename Work>
std::invoke_result_t<Work &> resultOnDeepStack(Work &&work) {
  std::optional<std::invoke_result_t<Work &>> result;
  if (Result<void> done = onDeepStack([&] { result.emplace(work()); }); !done)
    return done.takeError();
  return std::move(*result);
}
template <typename Work>
std::invoke_result_t<Work &> resultOnOwnDeepStack(Work &&work) {
  std::optional<std::invoke_result_t<Work &>> result;
  if (Result<void> done = onOwnDeepStack([&] { result.emplace(work()); });
      !done)
    return done.takeError();
  return std::move(*result);
}

} // namespace sinter

#endif // SINTER_RUNTIME_DEEPSTACK_H
