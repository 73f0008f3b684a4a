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
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_TRAININGSTEP_H
#define SINTER_AUTODIFF_TRAININGSTEP_H

#include "autodiff/Options.h"
#include "autodiff/Weights.h"
#include "graph/Model.h"

namespace sinter::autodiff {

inline constexpr llvm::StringLiteral targetName = "target";
inline constexpr llvm::StringLiteral rateName = "learning_rate";
inline constexpr llvm::StringLiteral updateName = "update";
/// What behind a weight's name makes the name of its average.
inline constexpr llvm::StringLiteral averageSuffix = ".average";

/// What became of the weights: their names.
struct TrainedTensors {
  std::vector<std::string> weights, statistics;
  /// Constants of one number that were left alone, since nobody asked for them.
  std::vector<std::string> askedFor;
  /// Weights and statistics that begin afresh.
  std::vector<std::string> reinitialized;
  /// Labels are less than this; nothing where the target holds none.
  std::optional<int64_t> classes;
};

/// Makes \p model, whose shapes are static and whose weights are arguments, a
/// step of its training with a target of \p target's type and shape. Errors:
/// Usage where options, target and model do not fit, or nothing is left to
/// train; Unsupported where an operation has no gradient.
Result<TrainedTensors> makeTrainingStep(Model &model,
                                        std::vector<LiftedWeight> weights,
                                        const TensorSpec &target,
                                        const TrainingOptions &options);

/// Makes \p model what judges it: the loss, and how many labels are right, of
/// the model as it infers, with what is \p trained as states.
Result<void> makeEvaluation(Model &model, std::vector<LiftedWeight> weights,
                            const TrainedTensors &trained,
                            const TensorSpec &target,
                            const TrainingOptions &options);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_TRAININGSTEP_H
