//===- StepThreads.h - how many threads a step is worth -------------------===//

#ifndef SINTER_RUNTIME_STEPTHREADS_H
#define SINTER_RUNTIME_STEPTHREADS_H

#include "runtime/Program.h"

#include <algorithm>

namespace sinter {

/// The least work for which another thread is woken. Waking costs some
/// microseconds; a core does about this much in 20 of them.
inline constexpr double flopsPerThread = 400e3;
inline constexpr double bytesPerThread = 100e3;

/// The number of threads, of \p available ones, that the work of \p step is
/// worth, and for which it has tasks.
inline unsigned worthwhileThreads(const Step &step, unsigned available) {
  const double threads =
      std::max(step.flops / flopsPerThread, step.bytesMoved / bytesPerThread);
  return static_cast<unsigned>(std::min<int64_t>(
      static_cast<int64_t>(std::clamp<double>(threads, 1, available)),
      step.tasks));
}

} // namespace sinter

#endif // SINTER_RUNTIME_STEPTHREADS_H
