//===- DeepStack.cpp - calls that need a deep stack -----------------------===//

#include "runtime/DeepStack.h"

#include "runtime/GuardedThread.h"

#include <exception>
#include <new>

namespace sinter {

/// Returns \p work's Result, with exceptions as errors: the caller may be of
/// another language, or compiled without exceptions.
template <typename Work> static Result<void> withoutExceptions(Work &&work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return systemError("there is not enough memory");
  } catch (const std::exception &failure) {
    return systemError(failure.what());
  }
}

/// Whether runOnDeepStack() made this thread.
static thread_local bool isDeep = false;

bool hasDeepStack() { return isDeep; }

Result<void> onDeepStack(const std::function<void()> &work) {
  if (!isDeep)
    return onOwnDeepStack(work);
  return withoutExceptions([&]() -> Result<void> {
    work();
    return {};
  });
}

Result<void> onOwnDeepStack(const std::function<void()> &work) {
  return withoutExceptions([&] {
    return runGuarded([&] {
      isDeep = true;
      work();
    });
  });
}

} // namespace sinter
