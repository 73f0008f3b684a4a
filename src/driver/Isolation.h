//===- Isolation.h - runs cases in processes that may crash ---------------===//
//
// Cases run in worker processes, several at a time and many per process; if a
// process crashes or is silent for too long, its present case fails, and
// another process continues after it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_ISOLATION_H
#define SINTER_DRIVER_ISOLATION_H

#include <functional>
#include <string>

namespace sinter::driver {

struct IsolatedResult {
  /// The index of the case in its unit; empty if the process ran none.
  std::string name;
  /// Whether the case completed, and its result.
  bool finished = false;
  std::string answer;
  /// If not: "crashed (Segmentation fault)", "no end after 60 s".
  std::string problem;
};

/// A worker process's report: the case it begins, and its result.
class IsolatedReport {
public:
  explicit IsolatedReport(int pipe) : pipe(pipe) {}
  void begin(const std::string &name) { send('B', name); }
  void end(const std::string &answer) { send('E', answer); }

private:
  void send(char kind, const std::string &text);

  int pipe;
};

struct IsolatedWork {
  /// The number of units; a unit has any number of cases.
  size_t units = 0;
  /// The number of processes, and the time limit of a case in seconds.
  unsigned processes = 1;
  double seconds = 600;
  /// Runs the cases of a unit from number \p first on, in a process forked from
  /// this one.
  std::function<void(size_t unit, size_t first, IsolatedReport &report)> work;
  /// Gets each case's result, in this process; those of a unit in order.
  std::function<void(size_t unit, const IsolatedResult &result)> done;
  /// Called after all results of the unit.
  std::function<void(size_t unit)> finished;
};

/// Runs all units. This process must have no other threads that hold locks.
void runIsolated(const IsolatedWork &work);

} // namespace sinter::driver

#endif // SINTER_DRIVER_ISOLATION_H
