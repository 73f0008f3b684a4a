//===- TrainingRun.h - runs steps of training -----------------------------===//

#ifndef SINTER_ENGINE_TRAININGRUN_H
#define SINTER_ENGINE_TRAININGRUN_H

#include "engine/Replica.h"
#include "engine/SessionOptions.h"
#include "engine/Train.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace sinter {

/// The results of a step or an evaluation.
struct BatchOutcome {
  double loss = 0;
  /// The number of right labels; nothing if there are none.
  std::optional<double> right;
  /// The number of compared labels or values, or of samples for several losses;
  /// and the number of labels.
  double count = 0, labels = 0;
  /// The largest magnitude of an element of a step's gradients.
  double gradient = 0;
  /// For several losses: each of them, in the order of the options.
  std::vector<double> losses = {};

  bool isFinite() const {
    return std::isfinite(loss) && std::isfinite(gradient);
  }
};

/// A batch split into one part per process.
struct SharedBatch {
  /// Those of this process, in order; empty ones after `taking`.
  std::vector<Batch> parts;
  /// The number of processes with samples, which are the first.
  uint32_t taking = 1;
};

/// A model in training. Programs are created when a shape first occurs; weights
/// move between them.
class TrainingRun {
public:
  /// Runs with the threads, pool, memory and printer of \p how.
  TrainingRun(std::unique_ptr<TrainableModel> model, const SessionOptions &how,
              Processes processes = {})
      : model(std::move(model)), how(how), processes(std::move(processes)),
        replicas(this->processes.localCount()) {}

  /// Prepares for steps on batches like \p batch without a step: the states are
  /// the initial or the restored ones.
  Result<void> prepare(const SharedBatch &batch);
  /// One step on a batch; with accumulated gradients, whether it updates the
  /// weights by those since the last update. The results are of all processes.
  Result<BatchOutcome> step(const SharedBatch &batch, double rate,
                            bool updates = true);
  /// The loss of the present model, over all processes' parts; after the first
  /// step. Like a step, it is Cancelled where the passes of \p how are, before
  /// its program runs.
  Result<BatchOutcome> judge(const SharedBatch &batch);
  /// Weights and running statistics of the evaluated and written model; after
  /// the first step, or prepare().
  NamedTensors values() const { return valuesAmong(states()); }
  /// The same from \p states.
  NamedTensors valuesAmong(const NamedTensors &states) const;

  /// Finds the first tensor that holds NaN or infinity in a step on this batch,
  /// the last one's, which left the states unchanged.
  Result<std::string> firstNotNumber(const SharedBatch &batch);
  /// A WrongResult if the processes have different states.
  Result<void> checkAgreement();

  /// All states after a step, and restoring them before the first one.
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
  SessionOptions how;
  Processes processes;
  /// This process's part.
  std::vector<Replica> replicas;
  /// Compiled programs of steps and evaluations by key, which several processes
  /// share.
  std::map<std::string, std::shared_ptr<const Program>> programs;
};

} // namespace sinter

#endif // SINTER_ENGINE_TRAININGRUN_H
