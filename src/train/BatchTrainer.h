//===- BatchTrainer.h - trains a model on a caller's batches --------------===//
//
// For programs with data, an order and learning rates of their own; Trainer has
// all of these.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TRAIN_BATCHTRAINER_H
#define SINTER_TRAIN_BATCHTRAINER_H

#include "engine/Session.h"
#include "train/TrainOptions.h"

#include <memory>
#include <string>
#include <vector>

namespace sinter {

class BatchTrainer {
public:
  /// Reads the model for training by the compiler. Of \p options, those of
  /// data, epochs, schedules, processes and checkpoints do not count. \p
  /// session: options to read, compile and run it.
  static Result<std::unique_ptr<BatchTrainer>> open(TrainOptions options,
                                                    SessionOptions session);

  const ModelDescription &model() const { return session->model(); }
  /// The targets of a batch, in order.
  const std::vector<TargetArray> &targets() const { return targetArrays; }

  /// A step on a batch: the inputs of the model in order, then the targets; the
  /// first dimension of each counts samples. With `accumulated` batches a step,
  /// only the last of them changes the weights. Usage errors if the arrays do
  /// not fit the model. A WrongResult if the loss or a gradient is not finite:
  /// the weights stay as they are, and no step follows.
  Result<BatchOutcome> step(std::vector<Tensor> batch);
  /// The loss of a batch. The weights stay as they are.
  Result<BatchOutcome> evaluate(std::vector<Tensor> batch);

  /// The learning rate of further steps.
  double rate() const { return options.rate.rate; }
  /// Usage error unless \p rate is a number from 0 on.
  Result<void> setRate(double rate);

  /// Writes the model with its present weights, which before the first batch
  /// are those of its file. That file is replaced only if \p overwrite allows
  /// it.
  Result<void> write(const std::string &output, Overwrite overwrite);

private:
  BatchTrainer(TrainOptions options, SessionOptions session)
      : options(std::move(options)), how(std::move(session)) {}

  Result<SharedBatch> shared(std::vector<Tensor> batch);
  Error notFinite(const SharedBatch &batch, const BatchOutcome &outcome);

  TrainOptions options;
  SessionOptions how;
  std::unique_ptr<Session> session;
  std::vector<TargetArray> targetArrays;
  std::unique_ptr<TrainingRun> run;
  /// Of all steps so far.
  uint64_t batches = 0, samples = 0;
  /// Whether there is a program with the weights.
  bool isReady = false;
  /// Whether a step was not finite: the optimiser's states may not be, either.
  bool hasFailed = false;
};

} // namespace sinter

#endif // SINTER_TRAIN_BATCHTRAINER_H
