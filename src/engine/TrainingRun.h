//===- TrainingRun.h - steps of training, one after the other -------------===//

#ifndef SINTER_ENGINE_TRAININGRUN_H
#define SINTER_ENGINE_TRAININGRUN_H

#include "engine/Train.h"

#include <map>
#include <memory>
#include <string>

namespace sinter {

/// What a step or a judgement gives.
struct BatchOutcome {
  double loss = 0;
  /// How many labels are right; nothing where the target holds none.
  std::optional<double> right;
  /// How many labels or numbers were compared.
  double count = 0;
};

/// A model in training. Programs are made as shapes come up; the weights go
/// from the one to the next.
class TrainingRun {
public:
  /// \p threads: as many as there are processors if 0.
  TrainingRun(std::unique_ptr<TrainableModel> model, unsigned threads,
              Denormals denormals)
      : model(std::move(model)), threads(threads), denormals(denormals) {}

  /// One step on a batch.
  Result<BatchOutcome> step(std::span<const Tensor> inputs,
                            const Tensor &target, double rate);
  /// The loss of the model as it is now; after the first step.
  Result<BatchOutcome> judge(std::span<const Tensor> inputs,
                             const Tensor &target);
  /// Weights and running statistics as they are now; after the first step.
  NamedTensors values() const;

  /// All that outlives a step, and the same given back before the first one.
  NamedTensors states() const;
  void restore(NamedTensors states) { restored = std::move(states); }

  TrainableModel &source() { return *model; }

private:
  Result<Executor *> stepFor(std::span<const Tensor> inputs,
                             const Tensor &target);
  Result<Executor *> judgeFor(std::span<const Tensor> inputs,
                              const Tensor &target);
  Result<std::unique_ptr<Executor>> executorOf(TrainingProgram program) const;

  std::unique_ptr<TrainableModel> model;
  unsigned threads;
  Denormals denormals;
  std::map<std::string, std::unique_ptr<Executor>> steps, judges;
  /// What the first program begins with, if not with the model's weights.
  NamedTensors restored;
  /// The one that holds the states.
  Executor *latest = nullptr;
};

} // namespace sinter

#endif // SINTER_ENGINE_TRAININGRUN_H
