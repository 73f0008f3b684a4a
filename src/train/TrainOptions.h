//===- TrainOptions.h - options of training -------------------------------===//

#ifndef SINTER_TRAIN_TRAINOPTIONS_H
#define SINTER_TRAIN_TRAINOPTIONS_H

#include "autodiff/Options.h"
#include "data/TrainingData.h"
#include "train/LearningRate.h"
#include "train/Losses.h"

#include <nlohmann/json.hpp>
#include <string>

namespace sinter {

/// The setting that a resumed run may increase.
inline constexpr const char *epochsSetting = "number of epochs";

/// The names of the fields of TrainOptions in messages.
struct TrainNames {
  std::string data = "data", validation = "validation", labels = "labels",
              resize = "resize", crops = "augmentation.crops",
              shapes = "shapes", mostUnreadable = "mostUnreadable",
              losses = "losses", classes = "classes", isLogits = "isLogits",
              isProbabilities = "isProbabilities", schedule = "rate.schedule",
              nesterov = "nesterov", momentum = "momentum",
              dropLast = "dropLast", memoryLimit = "memoryLimit",
              checkpointFolder = "checkpointFolder",
              checkpointSteps = "checkpointSteps", resumes = "resumes",
              writesBest = "writesBest";
};

struct TrainOptions {
  /// The model's file.
  std::string model;
  /// The source of samples (TrainingData.h), and of those for validation after
  /// each epoch; empty: none.
  std::string data, validation;
  /// The arrays of archives, instead of files.
  std::optional<NamedTensors> dataArrays, validationArrays;
  /// A file of class names, one per line.
  std::string labels;
  InputOptions pictures;
  /// Metadata of the written model (ModelRequest::metadata).
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Its seed is `seed`.
  AugmentationOptions augmentation;
  uint64_t mostUnreadable = 0;
  /// In MB: from there on images are decoded on demand.
  uint64_t dataMemory = 1024;
  /// Losses and targets follow from `losses`.
  autodiff::TrainingOptions training;
  /// The settings of all losses.
  autodiff::LossOptions loss;
  std::vector<GivenLoss> losses;
  /// The output of losses without one.
  std::string lossOutput;
  BucketOptions buckets;
  bool isLogits = false, isProbabilities = false;
  /// The number of classes that the model gets where it has another; 0: that of
  /// the data. Nothing: it stays as it is.
  std::optional<int64_t> classes;
  /// What Trainer and BatchTrainer make of that.
  std::optional<autodiff::HeadChange> head;
  RateOptions rate;
  uint64_t epochs = 1, batch = 32, seed = 0;
  bool noShuffle = false, dropLast = false;
  /// Batches whose gradients are accumulated for a step.
  uint64_t accumulated = 1;
  /// Data-parallel processes, each with `batch` samples of a step; 0: as many
  /// as mpirun started, or one.
  uint32_t replicas = 0;
  /// In bytes; 0: none.
  uint64_t memoryLimit = 0;
  /// Empty: no checkpoints.
  std::string checkpointFolder;
  /// 0: an epoch.
  uint64_t checkpointSteps = 0;
  size_t keptCheckpoints = 3;
  bool resumes = false;
  /// Whether the result has the weights of the best validation, not the last.
  bool writesBest = false;

  TrainNames names;
  /// Gets notes for the user, one line each; may be empty.
  std::function<void(const std::string &)> note;

  bool validates() const { return !validation.empty() || validationArrays; }
  /// A Usage error if options contradict each other, or a count is 0.
  Result<void> check() const;
  /// The checks of options for checkpoints.
  Result<void> checkCheckpoints() const;
  /// The options for reading samples for training, or for validation, with
  /// these targets.
  TrainingDataOptions dataOptions(bool validates,
                                  std::vector<TargetArray> targets) const;
  /// The settings that determine a step on one of \p samples samples with this
  /// many processes, by names for messages: a run resumes a checkpoint only if
  /// they are the same.
  nlohmann::json settings(size_t samples, uint32_t processes) const;
};

} // namespace sinter

#endif // SINTER_TRAIN_TRAINOPTIONS_H
