//===- GuardedThread.cpp - threads that survive fatal errors --------------===//

#include "runtime/GuardedThread.h"

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <unistd.h>

namespace sinter {

struct GuardedThread::State {
  std::function<void()> work;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::optional<Error> error;
  std::exception_ptr thrown;
  pthread_t thread = {};
  /// The result of pthread_create().
  int failure = 0;

  /// The calling thread's, or null.
  static std::shared_ptr<State> &ofThread() {
    static thread_local std::shared_ptr<State> current;
    return current;
  }
};

void *GuardedThread::enter(void *argument) {
  std::unique_ptr<std::shared_ptr<State>> given(
      static_cast<std::shared_ptr<State> *>(argument));
  State &state = **given;
  State::ofThread() = std::move(*given);
  try {
    state.work();
  } catch (...) {
    state.thrown = std::current_exception();
  }
  const std::lock_guard lock(state.mutex);
  state.isDone = true;
  state.changed.notify_all();
  return nullptr;
}

GuardedThread::GuardedThread(std::function<void()> work, size_t stackBytes)
    : state(std::make_shared<State>()) {
  state->work = std::move(work);
  auto given = std::make_unique<std::shared_ptr<State>>(state);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  state->failure =
      pthread_create(&state->thread, &attributes, enter, given.get());
  pthread_attr_destroy(&attributes);
  if (state->failure == 0)
    static_cast<void>(given.release());
}

GuardedThread::GuardedThread(GuardedThread &&other) noexcept
    : state(std::move(other.state)) {}

GuardedThread::~GuardedThread() {
  if (state)
    finish();
}

void GuardedThread::finish() {
  if (state->failure != 0)
    return;
  bool isDone = false;
  {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->isDone || state->error; });
    isDone = state->isDone;
  }
  // Thread-local objects are destroyed before join() returns.
  if (isDone)
    pthread_join(state->thread, nullptr);
  else
    pthread_detach(state->thread);
}

Result<void> GuardedThread::join() {
  finish();
  const std::shared_ptr<State> ended = std::move(state);
  if (ended->failure != 0)
    return systemError(std::string("a thread cannot be started: ") +
                       std::strerror(ended->failure));
  if (ended->thrown)
    std::rethrow_exception(ended->thrown);
  if (ended->error)
    return *ended->error;
  return {};
}

bool GuardedThread::isCurrent() { return State::ofThread() != nullptr; }

void GuardedThread::stop(const Error &error) {
  State *state = State::ofThread().get();
  if (!state) {
    std::fprintf(stderr, "error: %s\n", error.message().c_str());
    std::fflush(stderr);
    ::_exit(static_cast<int>(error.kind));
  }
  {
    const std::lock_guard lock(state->mutex);
    state->error = error;
    state->changed.notify_all();
  }
  while (true)
    ::pause();
}

Result<void> runGuarded(const std::function<void()> &work) {
  return GuardedThread(work, GuardedThread::deepStack).join();
}

} // namespace sinter
