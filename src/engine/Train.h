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
  /// Whether the interpreter runs the steps.
  bool interprets = false;
  /// How many bytes a step may need; nothing: as many as it takes.
  std::optional<uint64_t> memoryLimit;
  /// Whether the states come from a checkpoint.
  bool goesOn = false;
};

/// One of the two programs of training, for tensors of certain shapes:
/// compiled, or else ready in the interpreter. Its inputs are those of the
/// model, then what its outputs are compared with, and for a step `random`
/// where it drops, `learning_rate` and, where gradients are accumulated,
/// `update`; it gives `loss`, `right` where there are labels, `count`, `labels`
/// where that is another number, of several losses each by itself (`loss.0`,
/// `loss.1`, ...), and for a step `gradient`, the largest magnitude of an
/// element of a gradient. Its states are the model's weights. A
/// step whose loss or gradients are not finite leaves weights and running
/// statistics alone.
struct TrainingProgram {
  std::shared_ptr<const Program> compiled;
  std::unique_ptr<Executor> interpreted;
};

/// Samples: what the model takes of them, what its outputs are compared with,
/// and 64 bits for each (ui64) that decide what is dropped.
struct Batch {
  std::vector<Tensor> inputs, targets;
  Tensor keys;
};

/// A step that tells of its values by an observer, as number N that of which
/// `values` has a description.
struct CheckedStep {
  TrainingProgram program;
  std::vector<std::string> values;
};

/// How a step is written.
enum class StepForm {
  Public,   ///< As any tool reads it: states are arguments and results.
  Stateful, ///< With names and states, and what they begin with.
};

/// A model that is trained.
class TrainableModel {
public:
  virtual ~TrainableModel() = default;

  virtual const ModelDescription &description() const = 0;
  /// How many losses are added up.
  virtual size_t lossCount() const = 0;
  /// A step for samples like these, one of \p replicas processes' that take it
  /// together.
  virtual Result<TrainingProgram> step(const Batch &batch,
                                       uint32_t replicas) = 0;
  /// The same step, whose floating-point values are all told of.
  virtual Result<CheckedStep> checkedStep(const Batch &batch,
                                          uint32_t replicas) = 0;
  /// What judges the model, which stays as it is.
  virtual Result<TrainingProgram> evaluation(const Batch &batch) = 0;
  /// The names of what is trained and of running statistics; after step().
  virtual const std::vector<std::string> &weights() const = 0;
  virtual const std::vector<std::string> &statistics() const = 0;
  /// The state whose value a weight has in the model that is judged and
  /// written: the weight itself, or an average of it.
  virtual std::string resultOf(const std::string &weight) const = 0;
  /// Whether the labels in \p batch name classes that the model has, or are
  /// ignored; after step(). A Usage error names the first that does not.
  virtual Result<void> checkLabels(const Batch &batch) const = 0;
  /// Writes the step for samples like these as StableHLO.
  virtual Result<void> writeStep(const Batch &batch, uint32_t replicas,
                                 StepForm form, const std::string &output) = 0;
  /// Writes the model that was read with \p values in place of the weights and
  /// statistics of these names. A file of the model itself is replaced only as
  /// \p overwrite allows.
  virtual Result<void> write(const NamedTensors &values,
                             const std::string &output,
                             Overwrite overwrite) = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_TRAIN_H
