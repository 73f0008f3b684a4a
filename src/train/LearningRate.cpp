//===- LearningRate.cpp - learning rate schedules -------------------------===//

#include "train/LearningRate.h"

#include <cmath>
#include <numbers>

namespace sinter {

double learningRate(const RateOptions &options, uint64_t step, uint64_t total,
                    uint64_t epoch) {
  if (step < options.warmup)
    return options.rate * static_cast<double>(step + 1) /
           static_cast<double>(options.warmup);
  const uint64_t rest = total > options.warmup ? total - options.warmup : 1;
  const double part = std::min(1.0, static_cast<double>(step - options.warmup) /
                                        static_cast<double>(rest));
  switch (options.schedule) {
  case Schedule::Constant:
    return options.rate;
  case Schedule::Step: {
    const uint64_t times = epoch / options.stepEpochs;
    return options.rate * std::pow(options.factor, static_cast<double>(times));
  }
  case Schedule::Cosine:
    return options.rate * 0.5 * (1 + std::cos(std::numbers::pi * part));
  case Schedule::Linear:
    return options.rate * (1 - part);
  }
  return options.rate;
}

} // namespace sinter
