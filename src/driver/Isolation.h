//===- Isolation.h - work that may crash without taking others along ------===//
//
// Cases are worked off in processes of their own, several at a time and many by
// one process; a process that crashes, or that has not been heard of for too
// long, loses the case that it was at, and another one goes on behind it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_ISOLATION_H
#define SINTER_DRIVER_ISOLATION_H

#include <functional>
#include <string>

namespace sinter::driver {

struct IsolatedResult {
  /// What of its unit the case was; empty if the process was at none.
  std::string name;
  /// Whether the case came to an end, and what was answered.
  bool finished = false;
  std::string answer;
  /// If not: "crashed (Segmentation fault)", "no end after 60 s".
  std::string problem;
};

/// What a worker process tells: which case it begins, and how it ended.
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
  /// How many units there are; a unit has any number of cases.
  size_t units = 0;
  /// Processes at a time, and seconds that a case may take.
  unsigned processes = 1;
  double seconds = 600;
  /// Does the cases of a unit from number \p first on, in a process that has
  /// everything that this one has loaded.
  std::function<void(size_t unit, size_t first, IsolatedReport &report)> work;
  /// Gets each case's result, in this process; those of a unit in order.
  std::function<void(size_t unit, const IsolatedResult &result)> done;
  /// All results of the unit were given.
  std::function<void(size_t unit)> finished;
};

/// Works all units off. This process must have no other threads that hold
/// locks.
void runIsolated(const IsolatedWork &work);

} // namespace sinter::driver

#endif // SINTER_DRIVER_ISOLATION_H
