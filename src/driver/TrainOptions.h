//===- TrainOptions.h - the options of sinter train -----------------------===//

#ifndef SINTER_DRIVER_TRAINOPTIONS_H
#define SINTER_DRIVER_TRAINOPTIONS_H

#include "autodiff/Options.h"
#include "driver/CommonOptions.h"
#include "driver/Inputs.h"
#include "driver/LearningRate.h"
#include "driver/TrainingData.h"

#include <nlohmann/json.hpp>
#include <string>

namespace CLI {
class App;
}

namespace sinter::driver {

struct TrainOptions {
  CommonOptions common;
  std::string output, logFile, curveFile, stepFile;
  /// Whether the step that is written has its states.
  bool writesStates = false;
  OverwriteOptions overwrite;
  std::string data, validation, labels;
  InputOptions pictures;
  std::optional<PictureSize> resize;
  /// Its seed is `seed`.
  AugmentationOptions augmentation;
  uint64_t mostUnreadable = 0;
  /// In MB: from there on pictures are decoded as they are needed.
  uint64_t dataMemory = 1024;
  autodiff::TrainingOptions training;
  /// What is the same for all losses.
  autodiff::LossOptions loss;
  std::vector<GivenLoss> losses;
  /// The output of losses that name none.
  std::string lossOutput;
  BucketOptions buckets;
  bool isLogits = false, isProbabilities = false;
  RateOptions rate;
  uint64_t epochs = 1, batch = 32, seed = 0;
  bool noShuffle = false, dropLast = false;
  /// Batches whose gradients make a step.
  uint64_t accumulated = 1;
  /// Processes that train together, each with `batch` samples of a step; 0:
  /// what mpirun started, or one.
  uint32_t replicas = 0;
  /// In bytes; 0: none.
  uint64_t memoryLimit = 0;
  std::string checkpointFolder;
  /// 0: an epoch.
  uint64_t checkpointSteps = 0;
  size_t keptCheckpoints = 3;
  bool resumes = false;
  /// Whether the weights of the best validation are written, not the last.
  bool writesBest = false;

  void addTo(CLI::App &app);
  /// A Usage error where options contradict each other, or a number is none
  /// that they take.
  Result<void> check() const;
  /// How samples for --data are read, or for --validate, with these targets.
  TrainingDataOptions dataOptions(bool validates,
                                  std::vector<TargetArray> targets) const;
  /// What decides what a step on one of \p samples samples does with so many
  /// processes, by names for messages: a run goes on from a checkpoint only if
  /// they are the same.
  nlohmann::json settings(size_t samples, uint32_t processes) const;

private:
  Result<void> checkNumbers() const;
  void addData(CLI::App &app);
  void addAugmentation(CLI::App &app);
  void addLoss(CLI::App &app);
  void addOptimizer(CLI::App &app);
  void addWeights(CLI::App &app);
  void addCheckpoints(CLI::App &app);
  void addFiles(CLI::App &app);
  void addProcesses(CLI::App &app);
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAINOPTIONS_H
