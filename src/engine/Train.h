//===- Train.h - training a model -----------------------------------------===//

#ifndef SINTER_ENGINE_TRAIN_H
#define SINTER_ENGINE_TRAIN_H

#include "autodiff/Options.h"
#include "engine/Compiler.h"

namespace sinter {

struct TrainRequest {
  ModelRequest input;
  autodiff::TrainingOptions options;
  PassOptions passes;
  /// Threads to compile with; 0: as many as there are processors.
  unsigned threads = 0;
  /// As in CompileRequest.
  std::string kernelFolder, compiler;
  std::optional<MachineCeilings> ceilings;
  /// As in CompileRequest.
  bool fastConvolution = true;
  std::string cpu;
  Denormals denormals = Denormals::Flush;
  /// Whether the interpreter runs the steps.
  bool interprets = false;
};

/// One of the two programs of training, for tensors of certain shapes:
/// compiled, or else ready in the interpreter. Its inputs are those of the
/// model, then `target`, and for a step `learning_rate`; it gives `loss`,
/// `right` where the target holds labels, and `count`. Its states are the
/// model's weights.
struct TrainingProgram {
  std::shared_ptr<const Program> compiled;
  std::unique_ptr<Executor> interpreted;
};

/// A model that is trained.
class TrainableModel {
public:
  virtual ~TrainableModel() = default;

  virtual const ModelDescription &description() const = 0;
  /// A step for inputs and a target like these.
  virtual Result<TrainingProgram> step(std::span<const Tensor> inputs,
                                       const Tensor &target) = 0;
  /// What judges the model, which stays as it is.
  virtual Result<TrainingProgram> evaluation(std::span<const Tensor> inputs,
                                             const Tensor &target) = 0;
  /// The names of what is trained and of running statistics; after step().
  virtual const std::vector<std::string> &weights() const = 0;
  virtual const std::vector<std::string> &statistics() const = 0;
  /// Whether the labels in \p target name classes that the model has, or are
  /// ignored; after step(). A Usage error names the first that does not.
  virtual Result<void> checkLabels(const Tensor &target) const = 0;
  /// Writes the step for inputs and a target like these as StableHLO, its
  /// states as arguments and results.
  virtual Result<void> writeStep(std::span<const Tensor> inputs,
                                 const Tensor &target,
                                 const std::string &output) = 0;
  /// Writes the model that was read with \p values in place of the weights and
  /// statistics of these names. A file of the model itself is replaced only if
  /// \p mayOverwrite.
  virtual Result<void> write(const NamedTensors &values,
                             const std::string &output, bool mayOverwrite) = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_TRAIN_H
