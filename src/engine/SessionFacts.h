//===- SessionFacts.h - what it took to make a model ready ----------------===//

#ifndef SINTER_ENGINE_SESSIONFACTS_H
#define SINTER_ENGINE_SESSIONFACTS_H

#include <chrono>

namespace sinter {

struct SessionFacts {
  /// Everything up to the first run but compilation.
  double loadMs = 0;
  double compileMs = 0;
  bool fromCache = false;
};

/// Milliseconds from its making.
class Stopwatch {
public:
  double milliseconds() const {
    const std::chrono::duration<double, std::milli> passed =
        Clock::now() - start;
    return passed.count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONFACTS_H
