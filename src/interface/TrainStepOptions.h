//===- TrainStepOptions.h - options of a step of training -----------------===//
//
// What `sinter train` and a trainer of the C interface have in common: not the
// data, the epochs and the files.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_TRAINSTEPOPTIONS_H
#define SINTER_INTERFACE_TRAINSTEPOPTIONS_H

#include "train/TrainOptions.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// --accumulate
void addAccumulation(CLI::App &app, TrainOptions &options);
/// --memory-limit
void addMemoryLimit(CLI::App &app, TrainOptions &options);
/// --seed
void addSeed(CLI::App &app, TrainOptions &options);
/// --loss, --loss-output, --logits, --probabilities, --label-smoothing,
/// --ignore-label, --delta
void addLoss(CLI::App &app, TrainOptions &options);
/// --optimizer, --lr
void addOptimizer(CLI::App &app, TrainOptions &options);
/// --momentum, --nesterov, --beta1, --beta2, --decay, --epsilon,
/// --weight-decay, --decay-all, --clip-norm, --clip-value
void addOptimizerSettings(CLI::App &app, TrainOptions &options);
/// --classes
void addClasses(CLI::App &app, TrainOptions &options);
/// --trainable, --frozen, --reinitialize, --ema, --freeze-batch-norm,
/// --batch-norm-momentum, --max-trips
void addTrainedWeights(CLI::App &app, TrainOptions &options);
/// All of these.
void addTrainStep(CLI::App &app, TrainOptions &options);

/// Names the fields that these options set as messages write the options.
void nameStepOptions(TrainNames &names);

/// A Usage error if a number of these options is out of its range.
Result<void> checkStepNumbers(const TrainOptions &options);

/// "500MB" and "1.5 GiB" in bytes; nothing for other texts.
std::optional<uint64_t> parseBytes(std::string_view text);

} // namespace sinter

#endif // SINTER_INTERFACE_TRAINSTEPOPTIONS_H
