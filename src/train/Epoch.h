//===- Epoch.h - metrics of steps and epochs ------------------------------===//

#ifndef SINTER_TRAIN_EPOCH_H
#define SINTER_TRAIN_EPOCH_H

#include "engine/TrainingRun.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace sinter {

/// The metrics of a pass over data, or of the part of it so far.
struct Epoch {
  double loss = 0, right = 0, count = 0, labelCount = 0;
  bool hasLabels = false;
  /// For several losses each of them.
  std::vector<double> losses = {};

  void add(const BatchOutcome &batch);
  double meanLoss() const { return count == 0 ? 0 : loss / count; }
  std::vector<double> meanLosses() const;
  double accuracy() const { return labelCount == 0 ? 0 : right / labelCount; }

  nlohmann::json asJson() const;
  /// From asJson(); zeros for missing fields.
  static Epoch of(const nlohmann::json &json);
};

/// A completed step.
struct DoneStep {
  /// Counted from 1.
  uint64_t number = 0;
  /// From 0.
  uint64_t epoch = 0;
  double loss = 0, rate = 0, seconds = 0;
  size_t samples = 0;
  /// For several losses each of them.
  std::vector<double> losses = {};
};

/// A completed epoch.
struct DoneEpoch {
  /// From 0.
  uint64_t number = 0;
  /// Steps completed by then.
  uint64_t steps = 0;
  Epoch trained;
  /// The validation after it, if there is one.
  std::optional<Epoch> judged = std::nullopt;
  double seconds = 0;
  size_t samples = 0;
};

/// A loss as JSON: a number, or null if it is not finite.
nlohmann::json lossJson(double loss);
nlohmann::json lossesJson(const std::vector<double> &losses);

} // namespace sinter

#endif // SINTER_TRAIN_EPOCH_H
