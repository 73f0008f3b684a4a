//===- TrainCommandOptions.cpp - the options of sinter train --------------===//

#include "driver/TrainCommandOptions.h"

#include "driver/InputOptions.h"
#include "driver/Text.h"
#include "interface/Choice.h"
#include "interface/OutputFiles.h"
#include "interface/TrainStepOptions.h"

#include <CLI/CLI.hpp>
#include <map>

namespace sinter::driver {

void TrainCommandOptions::addData(CLI::App &app) {
  app.add_option(
         "--data", data,
         "samples: an .npz with an array for each input and `target`, a folder "
         "with a folder of images for each class, or an IDX file of images")
      ->required()
      ->type_name("FILE|DIR")
      ->group("Data");
  app.add_option("--validate", validation,
                 "samples to validate on after each epoch")
      ->type_name("FILE|DIR")
      ->group("Data");
  app.add_option("--labels", labels, "the classes' names, a line each")
      ->type_name("FILE")
      ->group("Data");
  app.add_option("-b,--batch", batch, "samples a step")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->group("Data");
  addAccumulation(app, *this);
  addMemoryLimit(app, *this);
  app.add_option("--epochs", epochs, "epochs: passes over all samples")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->group("Data");
  addSeed(app, *this);
  app.add_flag("--no-shuffle", noShuffle, "do not shuffle samples")
      ->group("Data");
  app.add_flag("--drop-last", dropLast, "drop the last batch if it is not full")
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
           buckets.called = "--bucket";
         },
         "bucket sizes that sequences are cut to: all samples of a batch share "
         "one; `length` in the .npz says how long each is")
      ->type_name("[NAME=]SIZES")
      ->group("Data");
  addPictures(app, pictures, "Data");
  app.add_option("--skip-unreadable", mostUnreadable,
                 "how many unreadable images to skip at most")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group("Data");
  app.add_option("--data-memory", dataMemory,
                 "samples of a folder or an IDX file that take more memory are "
                 "decoded when needed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("MB")
      ->group("Data");
}

void TrainCommandOptions::addAugmentation(CLI::App &app) {
  const char *group = "Augmentation";
  app.add_flag("--flip", augmentation.flips, "random horizontal flip")
      ->group(group);
  app.add_flag("--random-crop", augmentation.crops,
               "random crop of the --resize image, not a centre crop")
      ->group(group);
  app.add_option("--shift", augmentation.shift,
                 "random shift by up to PIXELS to each side")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 16))
      ->capture_default_str()
      ->type_name("PIXELS")
      ->group(group);
}

void TrainCommandOptions::addOptimization(CLI::App &app) {
  const char *group = "Optimiser";
  addOptimizer(app, *this);
  addChoice(app, "--schedule", rate.schedule,
            std::map<std::string, Schedule>{{"constant", Schedule::Constant},
                                            {"step", Schedule::Step},
                                            {"cosine", Schedule::Cosine},
                                            {"linear", Schedule::Linear}},
            "how the learning rate changes", "constant", group);
  app.add_option("--warmup", rate.warmup,
                 "steps over which the learning rate rises from 0")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--step-epochs", rate.stepEpochs,
                 "epochs between two steps of --schedule step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--step-factor", rate.factor,
                 "the factor of each of these steps")
      ->check(isNumber())
      ->capture_default_str()
      ->group(group);
  addOptimizerSettings(app, *this);
}

void TrainCommandOptions::addCheckpoints(CLI::App &app) {
  const char *group = "Checkpoints";
  app.add_option("--checkpoint-dir", checkpointFolder,
                 "where to write checkpoints, for --resume")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--checkpoint-every", checkpointSteps,
                 "steps between two checkpoints (default: an epoch)")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--keep-checkpoints", keptCheckpoints,
                 "how many of the newest to keep, beside the one with the best "
                 "validation")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
  app.add_flag("--best", writesBest,
               "write the weights of the epoch with the best validation, not "
               "the last ones")
      ->group(group);
  app.add_flag("--resume", resumes, "continue from the newest checkpoint")
      ->group(group);
}

void TrainCommandOptions::addFiles(CLI::App &app) {
  app.add_option("--log", logFile,
                 "a line of JSON for each step and each validation")
      ->type_name("FILE.jsonl")
      ->group("Report");
  app.add_option("--curve", curveFile,
                 "draw the losses as SVG, anew after each epoch")
      ->type_name("FILE.svg")
      ->group("Report");
  app.add_option("--write-step", stepFile,
                 "write the step as StableHLO: loss, gradients and optimiser, "
                 "with weights as arguments and results")
      ->type_name("FILE.mlir")
      ->group("Report");
  app.add_flag("--step-states", writesStates,
               "make weights and optimiser state of that file states with "
               "their names and values, for sinter only")
      ->group("Report");
}

void TrainCommandOptions::addProcesses(CLI::App &app) {
  constexpr uint32_t most = 4096;
  app.add_option("--replicas", replicas,
                 "processes that train together, each with --batch samples of "
                 "a step: threads of this process, or under mpirun its "
                 "processes")
      ->check(CLI::Range(1u, most))
      ->type_name("N")
      ->group("Processes");
  addChoice<bool>(
      app, "--batch-norm-statistics", training.hasLocalStatistics,
      {{"all", false}, {"local", true}},
      "batch norms use the samples of all processes, or each its own", "all",
      "Processes");
}

void TrainCommandOptions::addTo(CLI::App &app) {
  names = {.data = "--data",
           .validation = "--validate",
           .labels = "--labels",
           .resize = "--resize",
           .crops = "--random-crop",
           .mostUnreadable = "--skip-unreadable",
           .schedule = "--schedule",
           .dropLast = "--drop-last",
           .checkpointFolder = "--checkpoint-dir",
           .checkpointSteps = "--checkpoint-every",
           .resumes = "--resume",
           .writesBest = "--best"};
  nameStepOptions(names);
  note = printNote;
  addModel(app, common);
  addParameters(app, common);
  addFunction(app, common);
  app.add_option("-o,--output", output,
                 "where to write the trained model, in the format of the model")
      ->type_name("FILE")
      ->group("Output");
  addOverwrite(app, overwrite);
  addShapes(app, common);
  addData(app);
  addAugmentation(app);
  addLoss(app, *this);
  addOptimization(app);
  addClasses(app, *this);
  addTrainedWeights(app, *this);
  addCheckpoints(app);
  addFiles(app);
  addProcesses(app);
  addCache(app, common);
  addBackend(app, common);
  addReport(app, common);
}

Result<void> TrainCommandOptions::check() const {
  if (Result<void> good = checkCheckpoints(); !good)
    return good;
  if (output.empty() && stepFile.empty())
    return usageError("nothing to do: give -o FILE for the trained model, or "
                      "--write-step FILE");
  if (writesStates && stepFile.empty())
    return usageError("--step-states needs --write-step");
  if (Result<void> good = TrainOptions::check(); !good)
    return good;
  if (Result<void> good = checkStepNumbers(*this); !good)
    return good;
  for (const auto &[flag, file] :
       {std::pair("-o", &output), std::pair("--log", &logFile),
        std::pair("--curve", &curveFile), std::pair("--write-step", &stepFile)})
    if (Result<void> good = checkOutputFile(flag, *file, ""); !good)
      return good;
  return {};
}

} // namespace sinter::driver
