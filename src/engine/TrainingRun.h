//===- TrainingRun.h - steps of training, one after the other -------------===//

#ifndef SINTER_ENGINE_TRAININGRUN_H
#define SINTER_ENGINE_TRAININGRUN_H

#include "engine/Replica.h"
#include "engine/Train.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace sinter {

/// What a step or a judgement gives.
struct BatchOutcome {
  double loss = 0;
  /// How many labels are right; nothing where there are none.
  std::optional<double> right;
  /// How many labels or numbers were compared, or samples where there are
  /// several losses; and how many labels.
  double count = 0, labels = 0;
  /// The largest magnitude of an element of a step's gradients.
  double gradient = 0;
  /// Where there are several losses: each by itself, in the order of the
  /// options.
  std::vector<double> losses = {};

  bool isFinite() const {
    return std::isfinite(loss) && std::isfinite(gradient);
  }
};

/// A batch in parts, one for each process.
struct SharedBatch {
  /// Of this process's, in order; those behind `taking` are empty.
  std::vector<Batch> parts;
  /// The first so many processes have samples.
  uint32_t taking = 1;
};

/// A model in training. Programs are made as shapes come up; the weights go
/// from the one to the next.
class TrainingRun {
public:
  /// \p threads: as many as there are processors if 0.
  TrainingRun(std::unique_ptr<TrainableModel> model, unsigned threads,
              Denormals denormals, Processes processes = {})
      : model(std::move(model)), threads(threads), denormals(denormals),
        processes(std::move(processes)),
        replicas(this->processes.localCount()) {}

  /// One step on a batch; where gradients are accumulated, whether weights are
  /// moved by those that came together. What it gives is of all processes.
  Result<BatchOutcome> step(const SharedBatch &batch, double rate,
                            bool updates = true);
  /// The loss of the model as it is now, over all processes' parts; after the
  /// first step.
  Result<BatchOutcome> judge(const SharedBatch &batch);
  /// Weights and running statistics as the model has them that is judged and
  /// written; after the first step.
  NamedTensors values() const { return valuesAmong(states()); }
  /// The same of \p states.
  NamedTensors valuesAmong(const NamedTensors &states) const;

  /// Says which tensor is the first that holds what is no finite number in a
  /// step on this batch, the last one's, which left the states alone.
  Result<std::string> firstNotNumber(const SharedBatch &batch);
  /// A WrongResult where the processes do not have the same states.
  Result<void> checkAgreement();

  /// All that outlives a step, and the same given back before the first one.
  NamedTensors states() const { return replicas.front().states(); }
  void restore(const NamedTensors &states) {
    for (Replica &replica : replicas)
      replica.restore(states);
  }

  TrainableModel &source() { return *model; }
  Processes &group() { return processes; }

private:
  Result<std::unique_ptr<Executor>> executorOf(TrainingProgram program) const;
  Result<std::vector<Executor *>> executors(const SharedBatch &batch,
                                            bool judges);
  Result<TrainingProgram> programOf(const std::string &key, const Batch &part,
                                    uint32_t taking, bool judges);
  Result<void> shareStep(Communicator &communicator, size_t local,
                         uint32_t taking, BatchOutcome &outcome);
  std::optional<std::string> notNumberAmongInputs(const Batch &part) const;
  Result<std::optional<std::string>>
  notNumberAmongParts(const SharedBatch &batch);

  std::unique_ptr<TrainableModel> model;
  unsigned threads;
  Denormals denormals;
  Processes processes;
  /// This process's.
  std::vector<Replica> replicas;
  /// Compiled programs of steps and judges by key, which several share.
  std::map<std::string, std::shared_ptr<const Program>> programs;
};

} // namespace sinter

#endif // SINTER_ENGINE_TRAININGRUN_H
