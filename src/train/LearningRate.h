//===- LearningRate.h - learning rate schedules ---------------------------===//

#ifndef SINTER_TRAIN_LEARNINGRATE_H
#define SINTER_TRAIN_LEARNINGRATE_H

#include <cstdint>

namespace sinter {

enum class Schedule { Constant, Step, Cosine, Linear };

struct RateOptions {
  double rate = 1e-3;
  Schedule schedule = Schedule::Constant;
  /// Steps over which the rate rises from 0 to its first value.
  uint64_t warmup = 0;
  /// For Schedule::Step: after this many epochs the rate is multiplied by
  /// `factor`.
  uint64_t stepEpochs = 1;
  double factor = 0.1;

  /// Whether rates depend on the total number of steps.
  bool dependsOnEnd() const {
    return schedule == Schedule::Cosine || schedule == Schedule::Linear;
  }
};

/// The rate of step \p step (from 0) of \p total, in epoch \p epoch (from 0).
/// Cosine and linear schedules end at 0 after the last step (Loshchilov and
/// Hutter 2017).
double learningRate(const RateOptions &options, uint64_t step, uint64_t total,
                    uint64_t epoch);

} // namespace sinter

#endif // SINTER_TRAIN_LEARNINGRATE_H
