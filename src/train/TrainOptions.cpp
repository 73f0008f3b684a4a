#include "train/TrainOptions.h"

#include "runtime/Json.h"

namespace sinter {

Result<void> TrainOptions::checkCheckpoints() const {
  if (checkpointFolder.empty() && (resumes || checkpointSteps))
    return usageError((resumes ? names.resumes : names.checkpointSteps) +
                      " needs " + names.checkpointFolder + " DIR");
  return {};
}

Result<void> TrainOptions::check() const {
  if (Result<void> good = checkCheckpoints(); !good)
    return good;
  if (augmentation.crops && !pictures.preprocessing.resize)
    return usageError(names.crops + " needs " + names.resize +
                      ", a size larger than the model's input");
  if (writesBest && !validates())
    return usageError(names.writesBest + " needs " + names.validation);
  if (isLogits && isProbabilities)
    return usageError(names.isLogits + " and " + names.isProbabilities +
                      ": give one of them");
  if (training.optimizer.nesterov && training.optimizer.momentum == 0)
    return usageError(names.nesterov + " needs " + names.momentum);
  if (epochs == 0 || batch == 0 || accumulated == 0 || rate.stepEpochs == 0)
    return usageError("epochs, samples and batches of a step, and epochs "
                      "between two changes of the rate: each is at least 1");
  return {};
}

TrainingDataOptions
TrainOptions::dataOptions(bool validates,
                          std::vector<TargetArray> targets) const {
  TrainingDataOptions options;
  options.names = {validates ? names.validation : names.data, names.labels,
                   names.resize, names.shapes, names.mostUnreadable};
  options.note = note;
  options.source = validates ? validation : data;
  options.arrays = validates ? validationArrays : dataArrays;
  options.labels = labels;
  options.pictures = pictures;
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
  nlohmann::json all = {
      {"model", model},
      {"samples", samples},
      {"batch size", batch},
      {"number of processes", processes},
      {"batch norms' statistics",
       processes > 1 && training.hasLocalStatistics ? "local" : "all"},
      {epochsSetting, epochs},
      {"accumulation", accumulated},
      {"seed", seed},
      {"order", noShuffle ? "as it stands" : "shuffled"},
      {"last batch", dropLast ? "dropped" : "kept"},
      {"pictures", preprocessingText(pictures.preprocessing)},
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
  if (head)
    all["number of classes"] = head->classes;
  // As a checkpoint's file gives them back, whatever bytes a path has.
  return nlohmann::json::parse(jsonText(all));
}

} // namespace sinter
