//===- Isolation.h - work that may crash without taking others along ------===//

#ifndef SINTER_DRIVER_ISOLATION_H
#define SINTER_DRIVER_ISOLATION_H

#include <functional>
#include <string>

namespace sinter::driver {

struct IsolatedResult {
  /// What the work returned, if it came to an end.
  bool finished = false;
  std::string answer;
  /// If not: "crashed (Segmentation fault)", "no end after 60 s".
  std::string problem;
};

/// Calls \p work in a process of its own, which has everything that this one
/// has loaded, and gives it \p seconds. This process must have no other threads
/// that hold locks.
IsolatedResult isolated(const std::function<std::string()> &work,
                        double seconds);

} // namespace sinter::driver

#endif // SINTER_DRIVER_ISOLATION_H
