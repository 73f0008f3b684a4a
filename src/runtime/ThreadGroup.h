//===- ThreadGroup.h - the processes of a grid as threads -----------------===//
//
// Each process has a thread of its own, however few processors there are. When
// all that have not ended wait for something that only they could bring about,
// all of them get an error that says who waits where; there is no timeout.
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

  /// Around each wait of a process: it lets go of what it holds, and takes it
  /// again. Null functions do nothing. For processes that share more than this
  /// and take turns.
  void setTurns(std::function<void()> release, std::function<void()> acquire);

  /// Calls `work(communicator)` for all processes, each in its thread. The
  /// error is that of the lowest rank which failed by itself, rather than for
  /// lack of others. System errors where the machine refuses threads.
  Result<void> run(const std::function<Result<void>(Communicator &)> &work);

private:
  class State;
  class Process;

  std::unique_ptr<State> state;
  std::vector<std::unique_ptr<Process>> processes;
};

} // namespace sinter

#endif // SINTER_RUNTIME_THREADGROUP_H
