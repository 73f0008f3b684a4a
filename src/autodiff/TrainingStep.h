//===- TrainingStep.h - turns a model into a training step ----------------===//
//
//   main(x) -> y         ->    main(x, w, ..., target, learning_rate)
//     w = constant                 -> loss, right, count, gradient, w', ...
//
// Weights, running statistics and the optimiser's tensors are states
// (graph/storage): arguments and results of one name. Weights that are not
// trained stay constants. The model's other outputs are removed. `gradient` is
// the largest magnitude of an element of all gradients.
//
// A step that accumulates has one more input, `update`: whether the optimiser
// updates the weights, by the mean gradients of all batches since the last
// update. A step with dropouts (TrainDropouts.h) has one more, too: `random`,
// 64 bits for each sample.
//
// With several losses, `loss` is the weighted sum, and there are more results:
// `labels`, the number of labels, of which `right` are right, and each loss by
// itself, `loss.0`, `loss.1`, ...; `count` is the number of samples then.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_TRAININGSTEP_H
#define SINTER_AUTODIFF_TRAININGSTEP_H

#include "autodiff/Losses.h"
#include "autodiff/Options.h"
#include "autodiff/Weights.h"
#include "graph/Model.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter::autodiff {

inline constexpr llvm::StringLiteral randomName = "random";
inline constexpr llvm::StringLiteral rateName = "learning_rate";
inline constexpr llvm::StringLiteral updateName = "update";
/// The prefix of the name of a single loss, in front of its index.
inline constexpr llvm::StringLiteral partPrefix = "loss.";
/// The suffix of the name of a weight's average.
inline constexpr llvm::StringLiteral averageSuffix = ".average";

/// The names of the weights, by what happened to them.
struct TrainedTensors {
  std::vector<std::string> weights, statistics;
  /// Constants of one element that are not trained, since no option names them.
  std::vector<std::string> askedFor;
  /// Weights and statistics that were reinitialised.
  std::vector<std::string> reinitialized;
  /// For each target: the number of classes; nothing where it holds no labels.
  std::vector<std::optional<int64_t>> classes;
};

/// Builds the loss of a file (Loss::Function) from its arguments: a scalar, or
/// a tensor to take the mean of, of any float type.
using FileLoss = llvm::function_ref<Result<mlir::Value>(
    const LossOptions &, nn::TensorBuilder &, mlir::ValueRange)>;

/// Facts about the model besides its graph.
struct LossFacts {
  FileLoss fileLoss;
  /// For each output.
  std::vector<ClassDimension> classes;
};

/// Turns \p model, whose shapes are static and whose weights are arguments,
/// into a training step with targets of these types and shapes. Errors: Usage
/// where options, targets and model do not fit, or nothing is left to train;
/// Unsupported where an operation has no gradient.
Result<TrainedTensors> makeTrainingStep(Model &model,
                                        std::vector<LiftedWeight> weights,
                                        llvm::ArrayRef<TensorSpec> targets,
                                        const TrainingOptions &options,
                                        const LossFacts &facts);

/// Turns \p model into its evaluation: the loss, and how many labels are right,
/// of the inference graph, with the \p trained tensors as states.
Result<void> makeEvaluation(Model &model, std::vector<LiftedWeight> weights,
                            const TrainedTensors &trained,
                            llvm::ArrayRef<TensorSpec> targets,
                            const TrainingOptions &options,
                            const LossFacts &facts);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAININGSTEP_H
