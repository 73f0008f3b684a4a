//===- TrainingReport.h - output of training ------------------------------===//

#ifndef SINTER_DRIVER_TRAININGREPORT_H
#define SINTER_DRIVER_TRAININGREPORT_H

#include "driver/Interrupt.h"
#include "driver/Progress.h"
#include "driver/TrainCommandOptions.h"
#include "train/Trainer.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace sinter::driver {

/// Updates the line on the terminal, the log and the plot of the losses.
class TrainingReport : public TrainObserver {
public:
  /// Only the first of several processes \p tells anything.
  TrainingReport(const TrainCommandOptions &options, uint64_t totalSteps,
                 bool tells)
      : options(options), totalSteps(totalSteps), tells(tells) {
    if (tells)
      activity.emplace("training");
  }

  /// Begins the log. A run that is resumed after step \p steps, with \p epochs
  /// complete epochs, keeps their lines.
  Result<void> open(uint64_t steps, uint64_t epochs);
  void step(const DoneStep &step, const Epoch &sofar) override;
  void epoch(const DoneEpoch &epoch, const TrainingHistory &history) override;
  /// If a signal asked for it. Processes of MPI would wait for each other.
  bool wantsEnd() override { return Interrupt::isAsked(); }

private:
  /// If the log or the plot cannot be written, the run continues, with one
  /// note.
  void log(const nlohmann::json &line);
  void draw(const LossCurve &curve);
  std::string status(const DoneStep &step, const Epoch &sofar) const;

  const TrainCommandOptions &options;
  uint64_t totalSteps;
  bool tells;
  /// The line on the terminal.
  std::optional<Activity> activity;
  std::ofstream logStream;
  /// Whether the plot could always be written.
  bool isDrawn = true;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAININGREPORT_H
