//===- TrainOptions.cpp - the options of sinter train ---------------------===//

#include "driver/TrainOptions.h"

#include "driver/OutputFiles.h"
#include "driver/Text.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <map>

namespace sinter::driver {

using autodiff::Loss;
using autodiff::Optimizer;

template <typename T>
static void choice(CLI::App &app, const char *flag, T &place,
                   const std::map<std::string, T> &table, const char *what,
                   const char *initial, const char *group) {
  std::vector<std::string> names;
  for (const auto &[name, value] : table)
    names.push_back(name);
  app.add_option_function<std::string>(
         flag,
         [&place, table](const std::string &name) { place = table.at(name); },
         what)
      ->check(CLI::IsMember(names))
      ->default_str(initial)
      ->group(group);
}

static CLI::Option *number(CLI::App &app, const char *flag, double &place,
                           const char *what, const char *group) {
  return app.add_option(flag, place, what)
      ->check(isNumber())
      ->capture_default_str()
      ->group(group);
}

/// "224" or "256x320"; nothing for other texts.
static std::optional<PictureSize> parsePictureSize(const std::string &given) {
  constexpr int64_t most = 1 << 14;
  PictureSize size;
  const char *end = given.data() + given.size();
  auto [behind, error] = std::from_chars(given.data(), end, size.height);
  if (error != std::errc())
    return std::nullopt;
  size.width = size.height;
  if (behind != end && *behind == 'x') {
    auto [last, wrong] = std::from_chars(behind + 1, end, size.width);
    if (wrong != std::errc())
      return std::nullopt;
    behind = last;
  }
  if (behind != end || size.height < 1 || size.width < 1 ||
      size.height > most || size.width > most)
    return std::nullopt;
  return size;
}

void TrainOptions::addData(CLI::App &app) {
  app.add_option(
         "--data", data,
         "samples: an .npz with an array an input and `target`, a folder "
         "with a folder of pictures for each class, or an IDX file of "
         "pictures")
      ->required()
      ->type_name("FILE|DIR")
      ->group("Data");
  app.add_option("--validate", validation,
                 "samples that the model is judged by after each epoch")
      ->type_name("FILE|DIR")
      ->group("Data");
  app.add_option("--labels", labels, "the classes' names, a line each")
      ->type_name("FILE")
      ->group("Data");
  app.add_option("--batch", batch, "samples a step")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->group("Data");
  app.add_option("--accumulate", accumulated,
                 "batches whose gradients make one step of the optimiser")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->type_name("N")
      ->group("Data");
  app.add_option_function<std::string>(
         "--memory-limit",
         [this](const std::string &given) {
           const std::optional<uint64_t> bytes = parseBytes(given);
           if (!bytes)
             throw CLI::ValidationError(
                 "--memory-limit",
                 "a size such as 500MB or 1.5GiB is expected");
           memoryLimit = *bytes;
         },
         "what a step may need (500MB, 1.5GiB): what does not fit is computed "
         "again where it is needed")
      ->type_name("SIZE")
      ->group("Data");
  app.add_option("--epochs", epochs, "passes over all samples")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->group("Data");
  app.add_option("--seed", seed,
                 "of the order of samples, and of what else is random")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Data");
  app.add_flag("--no-shuffle", noShuffle, "take samples as they stand")
      ->group("Data");
  app.add_flag("--drop-last", dropLast,
               "leave out the samples that fill no batch")
      ->group("Data");
  app.add_option_function<std::string>(
         "--bucket",
         [this](const std::string &given) {
           std::optional<BucketOptions> parsed = parseBuckets(given);
           if (!parsed)
             throw CLI::ValidationError(
                 "--bucket", "'" + given +
                                 "': ascending sizes such as 32,64,128 are "
                                 "expected, or NAME=32,64,128");
           buckets = std::move(*parsed);
         },
         "sizes that sequences are cut to: samples of a batch have one; the "
         ".npz says in `length` how long each is")
      ->type_name("[NAME=]SIZES")
      ->group("Data");
  addPictures(app, pictures, "Data");
  app.add_option_function<std::string>(
         "--resize",
         [this](const std::string &given) {
           resize = parsePictureSize(given);
           if (!resize)
             throw CLI::ValidationError("--resize",
                                        "'" + given +
                                            "': a size or HEIGHTxWIDTH is "
                                            "expected");
         },
         "the size of pictures before the input's is cut out of the middle")
      ->type_name("SIZE|HxW")
      ->group("Data");
  app.add_option("--skip-unreadable", mostUnreadable,
                 "how many pictures that cannot be read may be left out")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group("Data");
  app.add_option("--data-memory", dataMemory,
                 "samples of a folder or an IDX file that take more are "
                 "decoded as they are needed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("MB")
      ->group("Data");
}

void TrainOptions::addAugmentation(CLI::App &app) {
  const char *group = "Augmentation";
  app.add_flag("--flip", augmentation.flips,
               "mirror every other picture, left and right")
      ->group(group);
  app.add_flag("--random-crop", augmentation.crops,
               "cut the input out of a picture of --resize anywhere, not in "
               "the middle")
      ->group(group);
  app.add_option("--shift", augmentation.shift,
                 "move pictures by up to so many pixels to each side")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 16))
      ->capture_default_str()
      ->type_name("PIXELS")
      ->group(group);
}

void TrainOptions::addLoss(CLI::App &app) {
  app.add_option_function<std::vector<std::string>>(
         "--loss",
         [this](const std::vector<std::string> &texts) {
           for (const std::string &text : texts) {
             Result<GivenLoss> given = parseLoss(text);
             if (!given)
               throw CLI::ValidationError("--loss", given.error().message);
             losses.push_back(std::move(*given));
           }
         },
         "what is made small (cross-entropy, binary-cross-entropy, "
         "mean-squared, mean-absolute, huber, or a file with a StableHLO "
         "function of an output and its target); the sum, if it is given "
         "several times")
      ->allow_extra_args(false)
      ->default_str("cross-entropy")
      ->type_name("[OUTPUT=]LOSS[:WEIGHT]")
      ->group("Loss");
  app.add_option("--loss-output", lossOutput,
                 "the output, by name or number, of losses that name none "
                 "(default: the first)")
      ->type_name("OUTPUT")
      ->group("Loss");
  app.add_flag("--logits", isLogits, "that output holds logits")->group("Loss");
  app.add_flag("--probabilities", isProbabilities,
               "that output holds probabilities (default: where a softmax or a "
               "sigmoid gives it)")
      ->group("Loss");
  number(app, "--label-smoothing", loss.smoothing,
         "the part of the probability that is spread over all classes", "Loss");
  app.add_option("--ignore-label", loss.ignoredLabel,
                 "labels that count for nothing")
      ->capture_default_str()
      ->group("Loss");
  number(app, "--delta", loss.delta,
         "where Huber's loss turns from a square into a line", "Loss");
}

void TrainOptions::addOptimizer(CLI::App &app) {
  autodiff::OptimizerOptions &how = training.optimizer;
  const char *group = "Optimiser";
  choice(app, "--optimizer", how.kind,
         std::map<std::string, Optimizer>{{"sgd", Optimizer::Sgd},
                                          {"adam", Optimizer::Adam},
                                          {"adamw", Optimizer::AdamW},
                                          {"rmsprop", Optimizer::RmsProp},
                                          {"adagrad", Optimizer::Adagrad},
                                          {"lamb", Optimizer::Lamb}},
         "how weights follow their gradients", "sgd", group);
  number(app, "--lr", rate.rate, "the learning rate", group);
  choice(app, "--schedule", rate.schedule,
         std::map<std::string, Schedule>{{"constant", Schedule::Constant},
                                         {"step", Schedule::Step},
                                         {"cosine", Schedule::Cosine},
                                         {"linear", Schedule::Linear}},
         "how it changes", "constant", group);
  app.add_option("--warmup", rate.warmup, "steps over which it rises from 0")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--step-epochs", rate.stepEpochs,
                 "epochs between two steps of --schedule step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  number(app, "--step-factor", rate.factor,
         "what each of them multiplies the rate by", group);
  number(app, "--momentum", how.momentum, "of sgd and rmsprop", group);
  app.add_flag("--nesterov", how.nesterov, "Nesterov's momentum")->group(group);
  number(app, "--beta1", how.beta1, "of adam, adamw and lamb", group);
  number(app, "--beta2", how.beta2, "of adam, adamw and lamb", group);
  number(app, "--decay", how.decay, "the share that rmsprop keeps", group);
  app.add_option("--epsilon", how.epsilon, "what divisors are larger by")
      ->check(isNumber())
      ->group(group);
  number(app, "--weight-decay", how.weightDecay,
         "not of biases and norms unless --decay-all", group);
  app.add_flag("--decay-all", how.decaysAll, "let biases and norms decay, too")
      ->group(group);
  number(app, "--clip-norm", how.clipNorm,
         "the largest norm of all gradients together; 0: none", group);
  number(app, "--clip-value", how.clipValue,
         "the largest element of a gradient; 0: none", group);
}

void TrainOptions::addWeights(CLI::App &app) {
  app.add_option("--trainable", training.trainable,
                 "weights to train, by name (* for any text)")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--frozen", training.frozen, "weights to leave as they are")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--reinitialize", training.reinitialized,
                 "weights that begin afresh, by --seed")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--ema", training.average,
                 "validate and write a moving average of the weights, of which "
                 "a step keeps this share")
      ->check(isNumber())
      ->type_name("DECAY")
      ->group("Weights");
  app.add_flag("--freeze-batch-norm", training.freezeBatchNorm,
               "keep the statistics of batch norms")
      ->group("Weights");
  app.add_option("--batch-norm-momentum", training.batchNormMomentum,
                 "the share of running statistics that a step keeps (default: "
                 "what the file says of each norm, or 0.9)")
      ->check(isNumber())
      ->group("Weights");
  app.add_option("--max-trips", training.mostTrips,
                 "how often loops run at most whose length is not known: what "
                 "goes on gives no number")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group("Weights");
}

void TrainOptions::addCheckpoints(CLI::App &app) {
  const char *group = "Checkpoints";
  app.add_option("--checkpoint-dir", checkpointFolder,
                 "a folder to go on from with --resume, whenever the run ends")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--checkpoint-every", checkpointSteps,
                 "steps between two checkpoints (default: an epoch)")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--keep-checkpoints", keptCheckpoints,
                 "how many of the last ones are kept, beside the one that "
                 "validated best")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
  app.add_flag("--best", writesBest,
               "write the weights of the epoch that validated best, not the "
               "last ones")
      ->group(group);
  app.add_flag("--resume", resumes, "go on from the newest checkpoint")
      ->group(group);
}

void TrainOptions::addFiles(CLI::App &app) {
  app.add_option("--log", logFile,
                 "a line of JSON for each step and each validation")
      ->type_name("FILE.jsonl")
      ->group("Report");
  app.add_option("--curve", curveFile,
                 "a picture of the losses, renewed after each epoch")
      ->type_name("FILE.svg")
      ->group("Report");
  app.add_option("--write-step", stepFile,
                 "where the step goes as StableHLO: loss, gradients and "
                 "optimiser, with weights as arguments and results")
      ->type_name("FILE.mlir")
      ->group("Report");
  app.add_flag("--step-states", writesStates,
               "in it, weights and what the optimiser keeps are states with "
               "their names and values, for sinter alone")
      ->group("Report");
}

void TrainOptions::addProcesses(CLI::App &app) {
  constexpr uint32_t most = 4096;
  app.add_option("--replicas", replicas,
                 "processes that train together, each with --batch samples of "
                 "a step: threads of this process, or under mpirun its "
                 "processes")
      ->check(CLI::Range(1u, most))
      ->type_name("N")
      ->group("Processes");
  choice<bool>(app, "--batch-norm-statistics", training.hasLocalStatistics,
               {{"all", false}, {"local", true}},
               "what batch norms norm by: the samples of all processes, or "
               "each by its own",
               "all", "Processes");
}

void TrainOptions::addTo(CLI::App &app) {
  addModel(app, common);
  addParameters(app, common);
  addFunction(app, common);
  app.add_option("-o,--output", output,
                 "where the trained model goes, in the format of the model")
      ->type_name("FILE");
  addOverwrite(app, overwrite);
  addShapes(app, common);
  addData(app);
  addAugmentation(app);
  addLoss(app);
  addOptimizer(app);
  addWeights(app);
  addCheckpoints(app);
  addFiles(app);
  addProcesses(app);
  addCache(app, common);
  addBackend(app, common);
  addReport(app, common);
}

Result<void> TrainOptions::checkNumbers() const {
  const autodiff::OptimizerOptions &how = training.optimizer;
  enum class Bound { None, Included, Excluded };
  // From 0 on, up to 1 where that is not None.
  const struct {
    const char *flag;
    std::optional<double> value;
    Bound zero, one;
  } rows[] = {
      {"--lr", rate.rate, Bound::Included, Bound::None},
      {"--step-factor", rate.factor, Bound::Included, Bound::None},
      {"--momentum", how.momentum, Bound::Included, Bound::None},
      {"--beta1", how.beta1, Bound::Included, Bound::Excluded},
      {"--beta2", how.beta2, Bound::Included, Bound::Excluded},
      {"--decay", how.decay, Bound::Included, Bound::Excluded},
      {"--epsilon", how.epsilon, Bound::Included, Bound::None},
      {"--weight-decay", how.weightDecay, Bound::Included, Bound::None},
      {"--clip-norm", how.clipNorm, Bound::Included, Bound::None},
      {"--clip-value", how.clipValue, Bound::Included, Bound::None},
      {"--label-smoothing", loss.smoothing, Bound::Included, Bound::Included},
      {"--delta", loss.delta, Bound::Excluded, Bound::None},
      {"--ema", training.average, Bound::Included, Bound::Excluded},
      {"--batch-norm-momentum", training.batchNormMomentum, Bound::Included,
       Bound::Included}};
  for (const auto &[flag, value, zero, one] : rows) {
    if (!value)
      continue;
    const bool isAbove = zero == Bound::Included ? *value >= 0 : *value > 0;
    const bool isBelow = one == Bound::None       ? std::isfinite(*value)
                         : one == Bound::Included ? *value <= 1
                                                  : *value < 1;
    if (!isAbove || !isBelow)
      return usageError(std::string(flag) + ": a number " +
                        (zero == Bound::Included ? "from 0 on" : "above 0") +
                        (one == Bound::None       ? ""
                         : one == Bound::Included ? " and up to 1"
                                                  : " and below 1") +
                        " is expected");
  }
  return {};
}

Result<void> TrainOptions::check() const {
  if (checkpointFolder.empty() && (resumes || checkpointSteps))
    return usageError(std::string(resumes ? "--resume" : "--checkpoint-every") +
                      " needs --checkpoint-dir DIR");
  if (output.empty() && stepFile.empty())
    return usageError("nothing to do: give -o FILE for the trained model, or "
                      "--write-step FILE");
  if (writesStates && stepFile.empty())
    return usageError("--step-states needs --write-step");
  if (augmentation.crops && !resize)
    return usageError("--random-crop needs --resize, a size larger than the "
                      "model's input");
  if (writesBest && validation.empty())
    return usageError("--best needs --validate");
  if (isLogits && isProbabilities)
    return usageError("--logits and --probabilities: give one of them");
  if (training.optimizer.nesterov && training.optimizer.momentum == 0)
    return usageError("--nesterov needs --momentum");
  if (Result<void> good = checkNumbers(); !good)
    return good;
  for (const auto &[flag, file] :
       {std::pair("-o", &output), std::pair("--log", &logFile),
        std::pair("--curve", &curveFile), std::pair("--write-step", &stepFile)})
    if (Result<void> good = checkOutputFile(flag, *file, ""); !good)
      return good;
  return {};
}

TrainingDataOptions
TrainOptions::dataOptions(bool validates,
                          std::vector<TargetArray> targets) const {
  TrainingDataOptions options;
  options.flag = validates ? "--validate" : "--data";
  options.source = validates ? validation : data;
  options.labels = labels;
  options.pictures = pictures;
  options.resize = resize;
  if (!validates)
    options.augmentation = augmentation;
  options.augmentation.seed = seed;
  options.targets = std::move(targets);
  options.buckets = buckets;
  options.seed = seed;
  options.mostUnreadable = mostUnreadable;
  options.mostBytes = dataMemory << 20;
  return options;
}

nlohmann::json TrainOptions::settings(size_t samples,
                                      uint32_t processes) const {
  const autodiff::OptimizerOptions &how = training.optimizer;
  nlohmann::json each = nlohmann::json::array();
  for (const GivenLoss &one : losses)
    each.push_back(
        {one.output, static_cast<int>(one.kind), one.file, one.weight});
  return {{"model", common.model},
          {"samples", samples},
          {"batch size", batch},
          {"number of processes", processes},
          {"batch norms' statistics",
           processes > 1 && training.hasLocalStatistics ? "local" : "all"},
          {"number of epochs", epochs},
          {"accumulation", accumulated},
          {"seed", seed},
          {"order", noShuffle ? "as it stands" : "shuffled"},
          {"last batch", dropLast ? "dropped" : "kept"},
          {"pictures",
           {pictures.mean, pictures.std, pictures.scale.value_or(-1),
            pictures.layout.value_or("nchw"), resize ? resize->height : 0,
            resize ? resize->width : 0}},
          {"augmentation",
           {augmentation.flips, augmentation.crops, augmentation.shift}},
          {"loss",
           {each, lossOutput, isLogits, isProbabilities, loss.smoothing,
            loss.ignoredLabel, loss.delta}},
          {"choice of buckets", {buckets.dimension, buckets.sizes}},
          {"optimiser",
           {static_cast<int>(how.kind), how.momentum, how.nesterov, how.beta1,
            how.beta2, how.decay, how.epsilon.value_or(-1), how.weightDecay,
            how.decaysAll, how.clipNorm, how.clipValue}},
          {"learning rate",
           {rate.rate, static_cast<int>(rate.schedule), rate.warmup,
            rate.stepEpochs, rate.factor}},
          {"choice of weights",
           {training.trainable, training.frozen, training.freezeBatchNorm,
            training.batchNormMomentum.value_or(-1)}},
          {"choice of fresh weights", training.reinitialized},
          {"average of weights", training.average.value_or(-1)},
          {"trips of loops", training.mostTrips}};
}

} // namespace sinter::driver
