//===- StepThreads.h - how many threads a step is worth -------------------===//

#ifndef SINTER_RUNTIME_STEPTHREADS_H
#define SINTER_RUNTIME_STEPTHREADS_H

#include "runtime/Program.h"

#include <algorithm>
#include <span>
#include <vector>

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

/// Whether no kernel among \p steps, those in bodies included, is worth more
/// than 20 threads.
inline bool areSmall(std::span<const Step> steps) {
  return std::ranges::all_of(steps, [](const Step &step) {
    return step.flops <= 20 * flopsPerThread &&
           step.bytesMoved <= 20 * bytesPerThread &&
           std::ranges::all_of(step.bodies, areSmall);
  });
}

/// Whether the bodies of a concurrent step are to run at once on \p threads
/// threads, one each, rather than one after the other with all threads for each
/// kernel. That is faster if their kernels are small: handing one out and
/// waiting for it costs as much as it gains. A large one profits from the
/// caches of several cores, and more threads are better used by all kernels.
inline bool runAtOnce(std::span<const std::vector<Step>> bodies,
                      unsigned threads) {
  return threads > 1 && threads <= 2 * bodies.size() &&
         std::ranges::all_of(bodies, areSmall);
}

} // namespace sinter

#endif // SINTER_RUNTIME_STEPTHREADS_H
