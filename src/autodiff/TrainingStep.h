//===- TrainingStep.h - a model becomes a step of its training ------------===//
//
//   main(x) -> y         ->    main(x, w, ..., target, learning_rate)
//     w = constant                 -> loss, right, count, gradient, w', ...
//
// Weights, running statistics and what the optimiser keeps are states
// (graph/storage): arguments and results of one name. What is not trained stays
// a constant. The model's other outputs are gone. `gradient` is the largest
// magnitude of an element of all gradients.
//
// A step that accumulates has one input more, `update`: whether the optimiser
// moves the weights, by the mean of the gradients of all batches since it did.
// So has one that drops (TrainDropouts.h): `random`, 64 bits for each sample.
//
// Of several losses, `loss` is the weighted sum; then there are more results:
// `labels`, of how many labels `right` are right, and each loss by itself,
// `loss.0`, `loss.1`, ...; and `count` counts samples.
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
/// What stands before a loss's number in the name of what it is by itself.
inline constexpr llvm::StringLiteral partPrefix = "loss.";
/// What behind a weight's name makes the name of its average.
inline constexpr llvm::StringLiteral averageSuffix = ".average";

/// What became of the weights: their names.
struct TrainedTensors {
  std::vector<std::string> weights, statistics;
  /// Constants of one number that were left alone, since nobody asked for them.
  std::vector<std::string> askedFor;
  /// Weights and statistics that begin afresh.
  std::vector<std::string> reinitialized;
  /// Of each target: labels are less than this; nothing where it holds none.
  std::vector<std::optional<int64_t>> classes;
};

/// Builds the loss of a file (Loss::Function) of the values that it takes: a
/// scalar, or one to take the mean of, of any float type.
using FileLoss = llvm::function_ref<Result<mlir::Value>(
    const LossOptions &, nn::TensorBuilder &, mlir::ValueRange)>;

/// What is known of the model besides its graph.
struct LossFacts {
  FileLoss fileLoss;
  /// Of each output.
  std::vector<ClassDimension> classes;
};

/// Makes \p model, whose shapes are static and whose weights are arguments, a
/// step of its training with targets of these types and shapes. Errors: Usage
/// where options, targets and model do not fit, or nothing is left to train;
/// Unsupported where an operation has no gradient.
Result<TrainedTensors> makeTrainingStep(Model &model,
                                        std::vector<LiftedWeight> weights,
                                        llvm::ArrayRef<TensorSpec> targets,
                                        const TrainingOptions &options,
                                        const LossFacts &facts);

/// Makes \p model what judges it: the loss, and how many labels are right, of
/// the model as it infers, with what is \p trained as states.
Result<void> makeEvaluation(Model &model, std::vector<LiftedWeight> weights,
                            const TrainedTensors &trained,
                            llvm::ArrayRef<TensorSpec> targets,
                            const TrainingOptions &options,
                            const LossFacts &facts);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAININGSTEP_H
