//===- Turns.h - one thread at a time -------------------------------------===//
//
// Temporaries and states are an executor's own, so threads that share one take
// turns. Who is told to run an executor that he is running already, by a
// function that the model calls, would wait for himself.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_TURNS_H
#define SINTER_RUNTIME_TURNS_H

#include "runtime/Result.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace sinter {

class Turns {
public:
  /// Held as long as the turn lasts.
  class Turn {
  public:
    explicit Turn(Turns &turns) : turns(&turns), lock(turns.mutex) {
      turns.holder.store(self(), std::memory_order_relaxed);
    }
    Turn(Turn &&other) noexcept
        : turns(std::exchange(other.turns, nullptr)),
          lock(std::move(other.lock)) {}
    Turn &operator=(Turn &&) = delete;
    ~Turn() {
      if (turns)
        turns->holder.store(nullptr, std::memory_order_relaxed);
    }

  private:
    Turns *turns;
    std::unique_lock<std::recursive_mutex> lock;
  };

  /// For a run: waits for the others. Usage error for a thread whose turn it
  /// is.
  Result<Turn> take() {
    if (holder.load(std::memory_order_relaxed) == self())
      return usageError("a function that the model calls uses the executor "
                        "that runs the model; it needs one of its own");
    return Turn(*this);
  }
  /// For a look at a state: waits for the others; within a turn, does not.
  std::unique_lock<std::recursive_mutex> look() const {
    return std::unique_lock(mutex);
  }

private:
  /// Stands for the calling thread.
  static const void *self() {
    static thread_local char place = 0;
    return &place;
  }

  mutable std::recursive_mutex mutex;
  std::atomic<const void *> holder = nullptr;
};

} // namespace sinter

#endif // SINTER_RUNTIME_TURNS_H
