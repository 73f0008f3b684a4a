//===- Options.h - how a model is trained ---------------------------------===//

#ifndef SINTER_AUTODIFF_OPTIONS_H
#define SINTER_AUTODIFF_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter::autodiff {

enum class Loss {
  CrossEntropy,
  BinaryCrossEntropy,
  MeanSquared,
  MeanAbsolute,
  Huber,
  Function ///< Of a file.
};

enum class Optimizer { Sgd, Adam, AdamW, RmsProp, Adagrad, Lamb };

/// An argument of a file's loss function behind the output and the target: one
/// of the model's inputs or outputs, or of the targets, by its index.
struct LossArgument {
  enum class Kind { Input, Output, Target };
  Kind kind = Kind::Target;
  unsigned number = 0;
};

struct LossOptions {
  Loss kind = Loss::CrossEntropy;
  /// For Loss::Function: the file, and further arguments.
  std::string file;
  std::vector<LossArgument> more;
  /// The index of the model's output, and of the target that it is compared
  /// with.
  unsigned output = 0, target = 0;
  /// The weight of the loss in the sum of all.
  double weight = 1;
  /// Whether that output holds logits or probabilities; nothing: probabilities
  /// where a softmax or a sigmoid computes it, whose operand is used.
  std::optional<bool> isLogits;
  /// The share of the probability that is spread over all classes.
  double smoothing = 0;
  /// Labels with this value are ignored.
  int64_t ignoredLabel = -100;
  /// Where Huber's loss turns from a square into a line.
  double delta = 1;
};

/// The number of classes that a model gets (ReplaceHead.h).
struct HeadChange {
  /// The output that has the scores, and its dimension of classes.
  unsigned output = 0, dimension = 1;
  int64_t classes = 0;
  uint64_t seed = 0;
};

struct OptimizerOptions {
  Optimizer kind = Optimizer::Sgd;
  /// Of SGD and RMSprop.
  double momentum = 0;
  bool nesterov = false;
  /// Of Adam, AdamW and LAMB.
  double beta1 = 0.9, beta2 = 0.999;
  /// The decay of RMSprop's mean square in a step.
  double decay = 0.99;
  /// Nothing: the optimiser's default.
  std::optional<double> epsilon;
  double weightDecay = 0;
  /// Whether it applies to tensors of one dimension, too: biases, norms.
  bool decaysAll = false;
  /// The largest norm of all gradients together, and the largest magnitude of
  /// an element; 0: none.
  double clipNorm = 0, clipValue = 0;
};

struct TrainingOptions {
  /// The sum of these is minimised; at least one.
  std::vector<LossOptions> losses = {{}};
  /// The names of the inputs of a step that outputs are compared with.
  std::vector<std::string> targets = {"target"};
  OptimizerOptions optimizer;
  /// Patterns of weights' names (`*` for any text). Empty: all are trained.
  std::vector<std::string> trainable, frozen;
  /// Whether batch norms keep the statistics that they have.
  bool freezeBatchNorm = false;
  /// The share of the running statistics that a step keeps; nothing: the file's
  /// value for each norm.
  std::optional<double> batchNormMomentum;
  /// Whether gradients are summed up over batches, until one comes with
  /// `update`.
  bool accumulates = false;
  /// The decay of a moving average of each weight in a step; nothing: there is
  /// none.
  std::optional<double> average;
  /// Patterns of the names of weights and statistics that are initialised anew,
  /// and the seed of their values.
  std::vector<std::string> reinitialized;
  uint64_t seed = 0;
  /// The greatest trip count of loops whose trip count is unknown; 0: such a
  /// loop has no gradient.
  int64_t mostTrips = 0;
  /// How many processes take a step together, each with its shard of the batch,
  /// and whether each normalises its shard by its own statistics.
  uint32_t replicas = 1;
  bool hasLocalStatistics = false;
};

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_OPTIONS_H
