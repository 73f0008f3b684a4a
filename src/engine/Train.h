//===- Train.h - training a model -----------------------------------------===//

#ifndef SINTER_ENGINE_TRAIN_H
#define SINTER_ENGINE_TRAIN_H

#include "autodiff/Options.h"
#include "engine/Compiler.h"

namespace sinter {

struct TrainRequest : CodeOptions {
  ModelRequest input;
  autodiff::TrainingOptions options;
  PassOptions passes;
  /// Threads to compile with; 0: as many as there are processors.
  unsigned threads = 0;
  /// As in CompileRequest.
  std::string kernelFolder, compiler;
  std::optional<MachineCeilings> ceilings;
  std::function<void(unsigned done, unsigned total)> progress;
  /// Whether to run steps in the interpreter.
  bool interprets = false;
  /// The most bytes that a step may need; nothing: no limit.
  std::optional<uint64_t> memoryLimit;
  /// Whether the states come from a checkpoint.
  bool goesOn = false;
  /// The head that the model gets; nothing: it stays as it is.
  std::optional<autodiff::HeadChange> head;
};

/// One of the two programs of training, for tensors of certain shapes:
/// compiled, or else for the interpreter. Its inputs are those of the model,
/// then the targets, and for a step `random` if it has dropout, `learning_rate`
/// and, if gradients are accumulated, `update`; its outputs are `loss`, `right`
/// if there are labels, `count`, `labels` if that is another number, for
/// several losses each of them (`loss.0`, `loss.1`, ...), and for a step
/// `gradient`, the largest magnitude of an element of a gradient. Its states
/// are the model's weights. A step whose loss or gradients are not finite
/// leaves weights and running statistics unchanged.
struct TrainingProgram {
  std::shared_ptr<const Program> compiled;
  std::unique_ptr<Executor> interpreted;
};

/// Samples: inputs of the model, targets, and 64 bits for each sample (ui64)
/// that decide on dropout.
struct Batch {
  std::vector<Tensor> inputs, targets;
  Tensor keys;
};

/// A step that reports its values to an observer; `values` has a description of
/// each by its number.
struct CheckedStep {
  TrainingProgram program;
  std::vector<std::string> values;
};

/// The form of a written step.
enum class StepForm {
  Public,   ///< As any tool reads it: states are arguments and results.
  Stateful, ///< With names and states, and what they begin with.
};

/// A model in training.
class TrainableModel {
public:
  virtual ~TrainableModel() = default;

  virtual const ModelDescription &description() const = 0;
  /// The number of losses that are added.
  virtual size_t lossCount() const = 0;
  /// A step for samples like these, one of \p replicas processes' that take it
  /// together.
  virtual Result<TrainingProgram> step(const Batch &batch,
                                       uint32_t replicas) = 0;
  /// The same step, with all its floating-point values observed.
  virtual Result<CheckedStep> checkedStep(const Batch &batch,
                                          uint32_t replicas) = 0;
  /// The program that evaluates the model and does not change it.
  virtual Result<TrainingProgram> evaluation(const Batch &batch) = 0;
  /// The names of trained weights and of running statistics; after step().
  virtual const std::vector<std::string> &weights() const = 0;
  virtual const std::vector<std::string> &statistics() const = 0;
  /// The state with a weight's value in the evaluated and written model: the
  /// weight itself, or an average of it.
  virtual std::string resultOf(const std::string &weight) const = 0;
  /// Whether the labels in \p batch are classes of the model, or ignored; after
  /// step(). A Usage error names the first that is not.
  virtual Result<void> checkLabels(const Batch &batch) const = 0;
  /// Writes the step for samples like these as StableHLO.
  virtual Result<void> writeStep(const Batch &batch, uint32_t replicas,
                                 StepForm form, const std::string &output) = 0;
  /// Writes the original model with \p values in place of the weights and
  /// statistics of these names. A file of the model itself is replaced only if
  /// \p overwrite allows it.
  virtual Result<void> write(const NamedTensors &values,
                             const std::string &output,
                             Overwrite overwrite) = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_TRAIN_H
