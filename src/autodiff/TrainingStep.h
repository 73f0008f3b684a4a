//===- TrainingStep.h - a model becomes a step of its training ------------===//
//
//   main(x) -> y         ->    main(x, w, ..., target, learning_rate)
//     w = constant                 -> loss, right, count, w', ...
//
// Weights, running statistics and what the optimiser keeps are states
// (graph/storage): arguments and results of one name. What is not trained stays
// a constant. The model's other outputs are gone.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_TRAININGSTEP_H
#define SINTER_AUTODIFF_TRAININGSTEP_H

#include "autodiff/Options.h"
#include "graph/Model.h"

namespace sinter::autodiff {

inline constexpr llvm::StringLiteral targetName = "target";
inline constexpr llvm::StringLiteral rateName = "learning_rate";

/// A weight of a model that became an argument.
struct LiftedWeight {
  std::string name;
  unsigned argument = 0;
  Tensor value;
};

/// Makes arguments of the weights of \p model's entry function, behind those
/// that it has: named constants of floating-point numbers with a dimension.
/// Unsupported where one name stands for two tensors.
Result<std::vector<LiftedWeight>> liftWeights(Model &model);

/// What became of the weights: their names.
struct TrainedTensors {
  std::vector<std::string> weights, statistics;
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
