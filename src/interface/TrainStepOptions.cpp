//===- TrainStepOptions.cpp - options of a step of training ---------------===//

#include "interface/TrainStepOptions.h"

#include "interface/Choice.h"
#include "interface/CommonOptions.h"
#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace sinter {

using autodiff::Optimizer;

static CLI::Option *number(CLI::App &app, const char *flag, double &place,
                           const char *what, const char *group) {
  return app.add_option(flag, place, what)
      ->check(isNumber())
      ->capture_default_str()
      ->group(group);
}

std::optional<uint64_t> parseBytes(std::string_view text) {
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc())
    return std::nullopt;
  std::string unit;
  for (char letter : std::string_view(rest, static_cast<size_t>(end - rest)))
    if (letter != ' ')
      unit +=
          static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},         {"B", 1},        {"KB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
      {"KIB", 0x1p10}, {"MIB", 0x1p20}, {"GIB", 0x1p30}};
  for (const auto &[name, factor] : units)
    if (unit == name && number * factor >= 1 && number * factor < 0x1p62)
      return static_cast<uint64_t>(number * factor);
  return std::nullopt;
}

void addAccumulation(CLI::App &app, TrainOptions &options) {
  app.add_option("--accumulate", options.accumulated,
                 "accumulate the gradients of N batches for one step of the "
                 "optimiser")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->type_name("N")
      ->group("Data");
}

void addMemoryLimit(CLI::App &app, TrainOptions &options) {
  app.add_option_function<std::string>(
         "--memory-limit",
         [&options](const std::string &given) {
           const std::optional<uint64_t> bytes = parseBytes(given);
           if (!bytes)
             throw CLI::ValidationError(
                 "--memory-limit",
                 "a size such as 500MB or 1.5GiB is expected");
           options.memoryLimit = *bytes;
         },
         "memory of a step (500MB, 1.5GiB): what does not fit is recomputed in "
         "the backward pass")
      ->type_name("SIZE")
      ->group("Data");
}

void addSeed(CLI::App &app, TrainOptions &options) {
  app.add_option("--seed", options.seed,
                 "seed of the order of samples, and of everything random")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Data");
}

void addLoss(CLI::App &app, TrainOptions &options) {
  app.add_option_function<std::vector<std::string>>(
         "--loss",
         [&options](const std::vector<std::string> &texts) {
           for (const std::string &text : texts) {
             Result<GivenLoss> given = parseLoss(text);
             if (!given)
               throw CLI::ValidationError("--loss", given.error().message());
             options.losses.push_back(std::move(*given));
           }
         },
         "the loss to minimise (cross-entropy, binary-cross-entropy, "
         "mean-squared, mean-absolute, huber, or a file with a StableHLO "
         "function of an output and its target); the sum, if given several "
         "times")
      ->allow_extra_args(false)
      ->default_str("cross-entropy")
      ->type_name("[OUTPUT=]LOSS[:WEIGHT]")
      ->group("Loss");
  app.add_option("--loss-output", options.lossOutput,
                 "the output, by name or number, for losses that name none "
                 "(default: the first)")
      ->type_name("OUTPUT")
      ->group("Loss");
  app.add_flag("--logits", options.isLogits, "the output holds logits")
      ->group("Loss");
  app.add_flag("--probabilities", options.isProbabilities,
               "the output holds probabilities (default: if a softmax or a "
               "sigmoid computes it)")
      ->group("Loss");
  number(app, "--label-smoothing", options.loss.smoothing,
         "label smoothing: targets are 1 - X for the class and X divided "
         "equally among all classes",
         "Loss");
  app.add_option("--ignore-label", options.loss.ignoredLabel,
                 "labels to ignore")
      ->capture_default_str()
      ->group("Loss");
  number(app, "--delta", options.loss.delta,
         "where Huber's loss changes from quadratic to linear", "Loss");
}

void addOptimizer(CLI::App &app, TrainOptions &options) {
  autodiff::OptimizerOptions &how = options.training.optimizer;
  const char *group = "Optimiser";
  addChoice(app, "--optimizer", how.kind,
            std::map<std::string, Optimizer>{{"sgd", Optimizer::Sgd},
                                             {"adam", Optimizer::Adam},
                                             {"adamw", Optimizer::AdamW},
                                             {"rmsprop", Optimizer::RmsProp},
                                             {"adagrad", Optimizer::Adagrad},
                                             {"lamb", Optimizer::Lamb}},
            "the optimiser", "sgd", group);
  number(app, "--lr", options.rate.rate, "the learning rate", group);
}

void addOptimizerSettings(CLI::App &app, TrainOptions &options) {
  autodiff::OptimizerOptions &how = options.training.optimizer;
  const char *group = "Optimiser";
  number(app, "--momentum", how.momentum, "momentum of sgd and rmsprop", group);
  app.add_flag("--nesterov", how.nesterov, "Nesterov's momentum")->group(group);
  number(app, "--beta1", how.beta1, "of adam, adamw and lamb", group);
  number(app, "--beta2", how.beta2, "of adam, adamw and lamb", group);
  number(app, "--decay", how.decay,
         "the decay of the moving average of rmsprop", group);
  app.add_option("--epsilon", how.epsilon, "epsilon added to the denominator")
      ->check(isNumber())
      ->group(group);
  number(app, "--weight-decay", how.weightDecay,
         "weight decay; not for biases, norms and slopes unless --decay-all",
         group);
  app.add_flag("--decay-all", how.decaysAll,
               "weight decay for biases, norms and slopes, too")
      ->group(group);
  number(app, "--clip-norm", how.clipNorm,
         "clip gradients to this global norm; 0: never", group);
  number(app, "--clip-value", how.clipValue,
         "clip elements of gradients to this magnitude; 0: never", group);
}

void addTrainedWeights(CLI::App &app, TrainOptions &options) {
  app.add_option("--trainable", options.training.trainable,
                 "weights to train, by name (* for any text)")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--frozen", options.training.frozen, "weights not to train")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--reinitialize", options.training.reinitialized,
                 "weights to initialise anew, by --seed")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--ema", options.training.average,
                 "validate and write an exponential moving average of the "
                 "weights with this decay")
      ->check(isNumber())
      ->type_name("DECAY")
      ->group("Weights");
  app.add_flag("--freeze-batch-norm", options.training.freezeBatchNorm,
               "do not update the statistics of batch norms")
      ->group("Weights");
  app.add_option("--batch-norm-momentum", options.training.batchNormMomentum,
                 "the share of running statistics that a step keeps (default: "
                 "what the file says of each norm, or 0.9)")
      ->check(isNumber())
      ->group("Weights");
  app.add_option("--max-trips", options.training.mostTrips,
                 "the largest trip count of loops whose length is unknown: a "
                 "longer loop yields NaN")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group("Weights");
}

void addClasses(CLI::App &app, TrainOptions &options) {
  app.add_option_function<std::string>(
         "--classes",
         [&options](const std::string &given) {
           constexpr int64_t most = 1 << 24;
           int64_t count = 0;
           const char *end = given.data() + given.size();
           auto [behind, error] = std::from_chars(given.data(), end, count);
           const bool isCount = error == std::errc() && behind == end &&
                                count >= 1 && count <= most;
           if (given != "auto" && !isCount)
             throw CLI::ValidationError(
                 optionText("classes"),
                 "'" + given + "': a number of classes, or auto, is expected");
           options.classes = isCount ? count : 0;
         },
         "replace the last layer if it has another number of classes; auto: "
         "that of the data")
      ->type_name("N|auto")
      ->group("Weights");
}

void addTrainStep(CLI::App &app, TrainOptions &options) {
  addClasses(app, options);
  addAccumulation(app, options);
  addMemoryLimit(app, options);
  addSeed(app, options);
  addLoss(app, options);
  addOptimizer(app, options);
  addOptimizerSettings(app, options);
  addTrainedWeights(app, options);
}

void nameStepOptions(TrainNames &names) {
  names.losses = optionText("loss");
  names.isLogits = optionText("logits");
  names.isProbabilities = optionText("probabilities");
  names.nesterov = optionText("nesterov");
  names.momentum = optionText("momentum");
  names.memoryLimit = optionText("memory-limit");
  names.shapes = optionText("shape");
  names.classes = optionText("classes");
}

Result<void> checkStepNumbers(const TrainOptions &options) {
  const autodiff::OptimizerOptions &how = options.training.optimizer;
  enum class Bound { None, Included, Excluded };
  // From 0 on, up to 1 unless that is None.
  const struct {
    const char *option;
    std::optional<double> value;
    Bound zero, one;
  } rows[] = {
      {"lr", options.rate.rate, Bound::Included, Bound::None},
      {"step-factor", options.rate.factor, Bound::Included, Bound::None},
      {"momentum", how.momentum, Bound::Included, Bound::None},
      {"beta1", how.beta1, Bound::Included, Bound::Excluded},
      {"beta2", how.beta2, Bound::Included, Bound::Excluded},
      {"decay", how.decay, Bound::Included, Bound::Excluded},
      {"epsilon", how.epsilon, Bound::Included, Bound::None},
      {"weight-decay", how.weightDecay, Bound::Included, Bound::None},
      {"clip-norm", how.clipNorm, Bound::Included, Bound::None},
      {"clip-value", how.clipValue, Bound::Included, Bound::None},
      {"label-smoothing", options.loss.smoothing, Bound::Included,
       Bound::Included},
      {"delta", options.loss.delta, Bound::Excluded, Bound::None},
      {"ema", options.training.average, Bound::Included, Bound::Excluded},
      {"batch-norm-momentum", options.training.batchNormMomentum,
       Bound::Included, Bound::Included}};
  for (const auto &[option, value, zero, one] : rows) {
    if (!value)
      continue;
    const bool isAbove = zero == Bound::Included ? *value >= 0 : *value > 0;
    const bool isBelow = one == Bound::None       ? std::isfinite(*value)
                         : one == Bound::Included ? *value <= 1
                                                  : *value < 1;
    if (!isAbove || !isBelow)
      return usageError(optionText(option) + ": a number " +
                        (zero == Bound::Included ? "from 0 on" : "above 0") +
                        (one == Bound::None       ? ""
                         : one == Bound::Included ? " and up to 1"
                                                  : " and below 1") +
                        " is expected");
  }
  return {};
}

} // namespace sinter
