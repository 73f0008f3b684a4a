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

/// What the function of a file takes behind the output and the target: one of
/// the model's inputs or outputs, or of the targets, by its number.
struct LossArgument {
  enum class Kind { Input, Output, Target };
  Kind kind = Kind::Target;
  unsigned number = 0;
};

struct LossOptions {
  Loss kind = Loss::CrossEntropy;
  /// Of Loss::Function: the file, and what else it takes.
  std::string file;
  std::vector<LossArgument> more;
  /// Which of the model's outputs is compared, and with which of the targets.
  unsigned output = 0, target = 0;
  /// What the loss is multiplied by in the sum of all.
  double weight = 1;
  /// Whether that output holds logits or probabilities; nothing: probabilities
  /// where a softmax or a sigmoid gives it, whose operand is used.
  std::optional<bool> isLogits;
  /// The part of the probability that is spread over all classes.
  double smoothing = 0;
  /// Labels with this number count for nothing.
  int64_t ignoredLabel = -100;
  /// Where Huber's loss turns from a square into a line.
  double delta = 1;
};

struct OptimizerOptions {
  Optimizer kind = Optimizer::Sgd;
  /// Of SGD and RMSprop.
  double momentum = 0;
  bool nesterov = false;
  /// Of Adam, AdamW and LAMB.
  double beta1 = 0.9, beta2 = 0.999;
  /// The share of the mean square that RMSprop keeps.
  double decay = 0.99;
  /// Nothing: what is usual for the optimiser.
  std::optional<double> epsilon;
  double weightDecay = 0;
  /// Whether it applies to tensors of one dimension, too: biases, norms.
  bool decaysAll = false;
  /// The largest norm of all gradients together, and the largest magnitude of
  /// an element; 0: none.
  double clipNorm = 0, clipValue = 0;
};

struct TrainingOptions {
  /// What is made small is the sum of these; at least one.
  std::vector<LossOptions> losses = {{}};
  /// The names of the inputs of a step that outputs are compared with.
  std::vector<std::string> targets = {"target"};
  OptimizerOptions optimizer;
  /// Patterns of weights' names (`*` for any text). Empty: all are trained.
  std::vector<std::string> trainable, frozen;
  /// Whether batch norms keep the statistics that they have.
  bool freezeBatchNorm = false;
  /// The share of the running statistics that a step keeps; without one, what
  /// the file says of each norm.
  std::optional<double> batchNormMomentum;
  /// Whether gradients are summed up over batches, until one comes with
  /// `update`.
  bool accumulates = false;
  /// The share that a moving average of each weight keeps in a step; nothing:
  /// there is none.
  std::optional<double> average;
  /// Patterns of the names of weights and statistics that begin afresh, and the
  /// seed of the numbers that they get.
  std::vector<std::string> reinitialized;
  uint64_t seed = 0;
  /// How often a loop runs at most of which that is not known; 0: such a loop
  /// has no gradient.
  int64_t mostTrips = 0;
  /// How many processes take a step together, each with its part of the batch,
  /// and whether each norms its part by its own statistics.
  uint32_t replicas = 1;
  bool hasLocalStatistics = false;
};

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_OPTIONS_H
