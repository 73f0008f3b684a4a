//===- Trainer.h - trains a model on data ---------------------------------===//
//
//   open       the model, the samples, the data-parallel processes
//   resume     from the newest checkpoint, if the options ask for it
//   train      all epochs, with validations and checkpoints
//   write      the model with its new weights
//   finish     the processes disconnect
//
// Prints nothing: notes go to TrainOptions::note, and an observer gets each
// step and each epoch.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TRAIN_TRAINER_H
#define SINTER_TRAIN_TRAINER_H

#include "data/BatchOrder.h"
#include "engine/Session.h"
#include "train/Checkpoints.h"
#include "train/TrainOptions.h"
#include "train/TrainingHistory.h"

#include <memory>
#include <optional>
#include <string>

namespace sinter {

/// Observes a run.
class TrainObserver {
public:
  virtual ~TrainObserver() = default;
  /// After a step; \p sofar is its epoch up to it.
  virtual void step(const DoneStep &step, const Epoch &sofar) = 0;
  /// After an epoch and its validation. \p history ends with it.
  virtual void epoch(const DoneEpoch &epoch,
                     const TrainingHistory &history) = 0;
  /// Whether the run is to end here; asked after each step and epoch.
  virtual bool wantsEnd() { return false; }
};

/// A step whose loss or gradients are not finite ends a run. It left the
/// weights unchanged.
struct NotFiniteStep {
  uint64_t step = 0;
  /// Whether the loss is finite, and a gradient is not.
  bool isLossFinite = false;
  /// The first tensor that holds NaN or infinity.
  std::string why;

  /// "the loss of step 3 is not a number: ...".
  std::string text() const;
};

/// The validation with the least loss, and the step before it.
struct BestValidation {
  uint64_t step = 0;
  double loss = 0;

  nlohmann::json asJson() const {
    return {{"step", step}, {"validation_loss", loss}};
  }
};

class Trainer {
public:
  /// Connects the processes of the options or of mpirun, reads the samples for
  /// the model and the model itself, for training by the compiler. \p session:
  /// options to read, compile and run it.
  static Result<std::unique_ptr<Trainer>> open(TrainOptions options,
                                               SessionOptions session);

  /// Writes the step for the first batch as StableHLO, in the first process.
  Result<void> writeStep(StepForm form, const std::string &output);
  /// Resumes from the newest checkpoint, if the options ask for it. A Usage
  /// error if there is none, if there are some of another run, or if other
  /// options than the number of epochs have changed.
  Result<void> resume();
  /// Runs the remaining steps. Returns the step that ended the run early. A
  /// Cancelled error if the observer wants it to end before the last one: after
  /// a checkpoint, if the options name a folder for these.
  Result<std::optional<NotFiniteStep>> train(TrainObserver &observer);
  /// Weights and running statistics after train(), or of the best validation if
  /// the options ask for these.
  Result<NamedTensors> values();
  /// Writes the model with these values, in its own format, in the first
  /// process. A file of the model itself is replaced only if \p overwrite
  /// allows it.
  Result<void> write(const std::string &output, Overwrite overwrite);
  /// All processes call this at the end.
  Result<void> finish() { return run->group().finish(); }

  /// Whether this process writes files and notes.
  bool isFirst() const { return isTelling; }
  /// Completed steps, and those of all epochs.
  uint64_t steps() const { return doneSteps; }
  uint64_t totalSteps() const { return options.epochs * stepsPerEpoch(); }
  /// The number of trained weights; after a step.
  size_t weightCount() const { return run->source().weights().size(); }
  const TrainingHistory &history() const { return told; }
  const std::optional<BestValidation> &best() const { return bestOne; }
  /// The step of the newest checkpoint that this run has written or continued.
  std::optional<uint64_t> keptStep() const { return kept; }

private:
  Trainer(TrainOptions options, SessionOptions session)
      : options(std::move(options)), how(std::move(session)) {}

  Result<Processes> connect();
  Result<void> loadData();
  Result<void> makeOrders();
  Result<void> checkSame(Processes &group) const;
  void note(const std::string &text) const;

  Result<void> goOn(Checkpoint newest);
  Result<void> checkSame(const Checkpoint &newest) const;
  void save(const Epoch &sofar);
  CheckpointNames checkpointNames() const {
    return {options.names.checkpointFolder, options.names.resumes};
  }

  uint64_t stepsPerEpoch() const;
  std::vector<std::vector<size_t>> batchesOf(uint64_t epoch) const;
  Result<SharedBatch> firstBatch();
  Result<Epoch> trainEpoch(uint64_t epoch, TrainObserver &observer);
  Result<void> endIfWanted(TrainObserver &observer, const Epoch &sofar);
  Result<BatchOutcome> step(SharedBatch &samples, double rate, bool updates,
                            Epoch &all);
  Result<void> checkLabels();
  Result<std::optional<Epoch>> validate();
  void keepBest(double loss);
  Result<NotFiniteStep> explainNotFinite();

  TrainOptions options;
  SessionOptions how;
  /// Referenced by the samples.
  std::unique_ptr<Session> session;
  std::optional<TrainingData> data, validation;
  std::optional<BatchOrder> batches, judged;
  std::unique_ptr<TrainingRun> run;
  bool isTelling = true;
  uint32_t processes = 1;

  TrainingHistory told;
  uint64_t doneSteps = 0;
  std::optional<uint64_t> kept;
  /// The metrics of a checkpoint's epoch.
  Epoch begun;
  /// The batch whose loss or gradients were not finite, and whether the loss
  /// was.
  std::optional<SharedBatch> notNumber;
  bool isLossFinite = false, hasCheckedLabels = false;
  std::optional<BestValidation> bestOne;
  /// The states then, if the result has its weights.
  NamedTensors bestStates;
};

} // namespace sinter

#endif // SINTER_TRAIN_TRAINER_H
