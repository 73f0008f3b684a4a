//===- ThreadGroup.h - threads as the processes of a program --------------===//
//
// Each process has a thread of its own, whatever the number of processors. On a
// deadlock, when all that have not ended wait for each other, all of them get
// an error that lists who waits for what; there is no timeout.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_THREADGROUP_H
#define SINTER_RUNTIME_THREADGROUP_H

#include "runtime/Communicator.h"

#include <functional>
#include <memory>
#include <vector>

namespace sinter {

class ThreadGroup {
public:
  explicit ThreadGroup(ProcessGrid grid);
  ~ThreadGroup();

  Communicator &communicator(Rank rank);

  /// Called around each wait of a process, to release a lock and take it again.
  /// Null functions do nothing. For processes that share other state under a
  /// lock.
  void setTurns(std::function<void()> release, std::function<void()> acquire);

  /// Calls `work(communicator)` for all processes, each in its thread. Returns
  /// the error of the lowest rank that failed by itself, rather than because of
  /// others. System errors if threads cannot be started.
  Result<void> run(const std::function<Result<void>(Communicator &)> &work);

private:
  class State;
  class Process;

  std::unique_ptr<State> state;
  std::vector<std::unique_ptr<Process>> processes;
};

} // namespace sinter

#endif // SINTER_RUNTIME_THREADGROUP_H
