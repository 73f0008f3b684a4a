//===- Turns.h - serialises the users of an executor ----------------------===//
//
// Temporaries and states belong to an executor, so runs of threads that share
// it are serialised. A function that the model calls must not run the same
// executor: it would wait for itself.
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
  /// Holds the lock during its lifetime.
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

  /// For a run: waits for others. Usage error for a thread that holds the lock.
  Result<Turn> take() {
    if (holder.load(std::memory_order_relaxed) == self())
      return usageError("a function that the model calls uses the executor "
                        "that runs the model; it needs one of its own");
    return Turn(*this);
  }
  /// For reading a state: waits for others, but not if this thread holds the
  /// lock.
  std::unique_lock<std::recursive_mutex> look() const {
    return std::unique_lock(mutex);
  }

private:
  /// Identifies the calling thread.
  static const void *self() {
    static thread_local char place = 0;
    return &place;
  }

  mutable std::recursive_mutex mutex;
  std::atomic<const void *> holder = nullptr;
};

} // namespace sinter

#endif // SINTER_RUNTIME_TURNS_H
