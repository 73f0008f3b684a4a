//===- LearningRate.h - how large steps are, over time --------------------===//

#ifndef SINTER_DRIVER_LEARNINGRATE_H
#define SINTER_DRIVER_LEARNINGRATE_H

#include <cstdint>

namespace sinter::driver {

enum class Schedule { Constant, Step, Cosine, Linear };

struct RateOptions {
  double rate = 1e-3;
  Schedule schedule = Schedule::Constant;
  /// Steps over which the rate rises from 0 to its first value.
  uint64_t warmup = 0;
  /// Of Schedule::Step: after so many epochs the rate is multiplied by
  /// `factor`.
  uint64_t stepEpochs = 1;
  double factor = 0.1;
};

/// The rate of step \p step (from 0) of \p total, in epoch \p epoch (from 0).
/// Cosine and linear schedules end at 0 after the last step (Loshchilov and
/// Hutter 2017).
double learningRate(const RateOptions &options, uint64_t step, uint64_t total,
                    uint64_t epoch);

} // namespace sinter::driver

#endif // SINTER_DRIVER_LEARNINGRATE_H
