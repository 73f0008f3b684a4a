//===- TrainingReport.h - what a user is told of training -----------------===//

#ifndef SINTER_DRIVER_TRAININGREPORT_H
#define SINTER_DRIVER_TRAININGREPORT_H

#include "driver/LossCurve.h"
#include "driver/Progress.h"
#include "driver/TrainOptions.h"
#include "engine/TrainingRun.h"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace sinter::driver {

/// What one pass over data gave.
struct Epoch {
  double loss = 0, right = 0, count = 0, labelCount = 0;
  bool hasLabels = false;
  /// Of several losses each by itself.
  std::vector<double> losses = {};

  void add(const BatchOutcome &batch) {
    loss += batch.loss * batch.count;
    count += batch.count;
    hasLabels |= batch.right.has_value();
    right += batch.right.value_or(0);
    labelCount += batch.labels;
    losses.resize(batch.losses.size());
    for (size_t i = 0; i < losses.size(); ++i)
      losses[i] += batch.losses[i] * batch.count;
  }
  double meanLoss() const { return count == 0 ? 0 : loss / count; }
  std::vector<double> meanLosses() const {
    std::vector<double> means = losses;
    for (double &each : means)
      each = count == 0 ? 0 : each / count;
    return means;
  }
  nlohmann::json asJson() const {
    return {{"loss", loss},        {"right", right},
            {"count", count},      {"label count", labelCount},
            {"labels", hasLabels}, {"losses", losses}};
  }
  static Epoch of(const nlohmann::json &json) {
    return {json.value("loss", 0.0),
            json.value("right", 0.0),
            json.value("count", 0.0),
            json.value("label count", 0.0),
            json.value("labels", false),
            json.value("losses", std::vector<double>())};
  }
  double accuracy() const { return labelCount == 0 ? 0 : right / labelCount; }
};

/// A step that was done.
struct DoneStep {
  /// Counted from 1.
  uint64_t number = 0;
  /// From 0.
  uint64_t epoch = 0;
  double loss = 0, rate = 0, seconds = 0;
  size_t samples = 0;
  /// Of several losses each by itself.
  std::vector<double> losses = {};
};

/// Keeps the lines on the terminal, the log, the history of epochs and the
/// curve of losses.
class TrainingReport {
public:
  /// Only the first of several processes \p tells anything.
  TrainingReport(const TrainOptions &options, uint64_t totalSteps, bool tells)
      : options(options), totalSteps(totalSteps), tells(tells),
        show(tells ? statusLine() : [](const std::string &) {}) {}

  /// Begins the log. A run that goes on after step \p steps keeps the lines of
  /// the steps before.
  Result<void> open(uint64_t steps);
  void step(const DoneStep &step, const Epoch &sofar);
  /// After epoch \p epoch, which took \p seconds for \p samples samples.
  void epoch(uint64_t epoch, uint64_t steps, const Epoch &trained,
             const std::optional<Epoch> &judged, double seconds,
             size_t samples);
  /// Takes the line on the terminal away.
  void clear() { show(""); }

  /// A line of JSON an epoch.
  const nlohmann::json &history() const { return epochs; }
  nlohmann::json asJson() const;
  /// Goes on from what asJson() gave.
  void restore(const nlohmann::json &json);

private:
  /// Where the log or the curve cannot be written, the run goes on, and a note
  /// says so once.
  void log(const nlohmann::json &line);
  void draw();
  std::string status(const DoneStep &step, const Epoch &sofar);

  const TrainOptions &options;
  uint64_t totalSteps;
  bool tells;
  std::function<void(const std::string &)> show;
  std::ofstream logStream;
  /// Whether no drawing of the curve has failed.
  bool isDrawn = true;
  nlohmann::json epochs = nlohmann::json::array();
  LossCurve curve;
  /// When the first step of this process, which compiles, had ended, and its
  /// number.
  std::optional<std::chrono::steady_clock::time_point> begin;
  uint64_t firstStep = 0;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAININGREPORT_H
