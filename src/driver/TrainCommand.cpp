//===- TrainCommand.cpp - sinter train ------------------------------------===//

#include "driver/Checkpoints.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/LearningRate.h"
#include "driver/OutputFiles.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/TrainingData.h"
#include "engine/CompilerLibrary.h"
#include "engine/TrainingRun.h"
#include "runtime/Random.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

namespace sinter::driver {
namespace {

using autodiff::Loss;
using autodiff::Optimizer;

/// What one pass over data gave.
struct Epoch {
  double loss = 0, right = 0, count = 0;
  bool hasLabels = false;

  void add(const BatchOutcome &batch) {
    loss += batch.loss * batch.count;
    count += batch.count;
    hasLabels |= batch.right.has_value();
    right += batch.right.value_or(0);
  }
  double meanLoss() const { return count == 0 ? 0 : loss / count; }
  nlohmann::json asJson() const {
    return {{"loss", loss},
            {"right", right},
            {"count", count},
            {"labels", hasLabels}};
  }
  static Epoch of(const nlohmann::json &json) {
    return {json.value("loss", 0.0), json.value("right", 0.0),
            json.value("count", 0.0), json.value("labels", false)};
  }
  double accuracy() const { return count == 0 ? 0 : right / count; }
};

class TrainCommand : public Command {
public:
  explicit TrainCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option("-o,--output", output,
                   "where the trained model goes, in the format of the model")
        ->type_name("FILE");
    addForce(app, force);
    addShapes(app, common);
    addData(app);
    addLoss(app);
    addOptimizer(app);
    addWeights(app);
    addCheckpoints(app);
    app.add_option("--log", logFile,
                   "a line of JSON for each step and each validation")
        ->type_name("FILE.jsonl")
        ->group("Report");
    app.add_option("--write-step", stepFile,
                   "where the step goes as StableHLO: loss, gradients and "
                   "optimiser, with weights as arguments and results")
        ->type_name("FILE.mlir")
        ->group("Report");
    addCache(app, common);
    addBackend(app, common);
    addReport(app, common);
  }

  Result<int> run() override;

private:
  template <typename T>
  void choice(CLI::App &app, const char *flag, T &place,
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
  void addData(CLI::App &app);
  void addLoss(CLI::App &app);
  void addOptimizer(CLI::App &app);
  void addWeights(CLI::App &app);

  Result<void> checkUsage() const;
  Result<void> loadData(Session &session, const NamedShapes &shapes);
  Result<TrainRequest> request(const SessionOptions &session) const;
  Result<int> train(TrainingRun &run);
  Result<Epoch> trainEpoch(TrainingRun &run, uint64_t epoch);
  Result<Epoch> validate(TrainingRun &run);
  std::vector<size_t> order(uint64_t epoch) const;
  uint64_t batchesPerEpoch() const;
  void addCheckpoints(CLI::App &app);
  nlohmann::json settings() const;
  Result<void> resume(TrainingRun &run);
  Result<void> openLog();
  void save(const TrainingRun &run, const Epoch &sofar);
  void tell(uint64_t epoch, const Epoch &trained,
            const std::optional<Epoch> &judged, double seconds);
  Result<void> log(const nlohmann::json &line);

  CommonOptions common;
  std::string output, logFile, stepFile;
  bool force = false;
  TrainingDataOptions dataOptions{"--data", "", "", {}},
      validationOptions{"--validate", "", "", {}};
  InputOptions pictures;
  std::string labels;
  autodiff::TrainingOptions options;
  bool isLogits = false, isProbabilities = false;
  RateOptions rate;
  uint64_t epochs = 1, batch = 32, seed = 0;
  bool noShuffle = false, dropLast = false;
  std::optional<TrainingData> data, validation;
  uint64_t steps = 0;
  std::optional<std::string> notNumber;
  std::string checkpointFolder;
  uint64_t checkpointSteps = 0;
  size_t keptCheckpoints = 3;
  bool resumes = false;
  /// Of the epoch that a checkpoint was written in.
  Epoch begun;
  std::ofstream logStream;
  nlohmann::json history = nlohmann::json::array();
};

void TrainCommand::addData(CLI::App &app) {
  app.add_option("--data", dataOptions.source,
                 "samples: an .npz with an array an input and `target`, or a "
                 "folder with a folder of pictures for each class")
      ->required()
      ->type_name("FILE|DIR")
      ->group("Data");
  app.add_option("--validate", validationOptions.source,
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
  app.add_option("--epochs", epochs, "passes over all samples")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 24))
      ->capture_default_str()
      ->group("Data");
  app.add_option("--seed", seed, "of the order of samples")
      ->capture_default_str()
      ->group("Data");
  app.add_flag("--no-shuffle", noShuffle, "take samples as they stand")
      ->group("Data");
  app.add_flag("--drop-last", dropLast,
               "leave out the samples that fill no batch")
      ->group("Data");
  addPictures(app, pictures, "Data");
}

void TrainCommand::addLoss(CLI::App &app) {
  autodiff::LossOptions &loss = options.loss;
  choice(app, "--loss", loss.kind,
         std::map<std::string, Loss>{
             {"cross-entropy", Loss::CrossEntropy},
             {"binary-cross-entropy", Loss::BinaryCrossEntropy},
             {"mean-squared", Loss::MeanSquared},
             {"mean-absolute", Loss::MeanAbsolute},
             {"huber", Loss::Huber}},
         "what is made small", "cross-entropy", "Loss");
  app.add_option("--loss-output", loss.output,
                 "the number of the output that is compared with the target")
      ->capture_default_str()
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

void TrainCommand::addOptimizer(CLI::App &app) {
  autodiff::OptimizerOptions &how = options.optimizer;
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

void TrainCommand::addWeights(CLI::App &app) {
  app.add_option("--trainable", options.trainable,
                 "weights to train, by name (* for any text)")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_option("--frozen", options.frozen, "weights to leave as they are")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Weights");
  app.add_flag("--freeze-batch-norm", options.freezeBatchNorm,
               "keep the statistics of batch norms")
      ->group("Weights");
  number(app, "--batch-norm-momentum", options.batchNormMomentum,
         "the share of running statistics that a step keeps", "Weights");
}

void TrainCommand::addCheckpoints(CLI::App &app) {
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
                 "how many of the last ones are kept")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
  app.add_flag("--resume", resumes, "go on from the newest checkpoint")
      ->group(group);
}

/// What decides what a step does.
nlohmann::json TrainCommand::settings() const {
  const autodiff::LossOptions &loss = options.loss;
  const autodiff::OptimizerOptions &how = options.optimizer;
  return {{"model", common.model},
          {"samples", data->count()},
          {"batch size", batch},
          {"number of epochs", epochs},
          {"seed", seed},
          {"order", noShuffle ? "as it stands" : "shuffled"},
          {"last batch", dropLast ? "dropped" : "kept"},
          {"loss",
           {static_cast<int>(loss.kind), loss.output, isLogits, isProbabilities,
            loss.smoothing, loss.ignoredLabel, loss.delta}},
          {"optimiser",
           {static_cast<int>(how.kind), how.momentum, how.nesterov, how.beta1,
            how.beta2, how.decay, how.epsilon.value_or(-1), how.weightDecay,
            how.decaysAll, how.clipNorm, how.clipValue}},
          {"learning rate",
           {rate.rate, static_cast<int>(rate.schedule), rate.warmup,
            rate.stepEpochs, rate.factor}},
          {"choice of weights",
           {options.trainable, options.frozen, options.freezeBatchNorm,
            options.batchNormMomentum}}};
}

/// A checkpoint that cannot be written does not end the run.
void TrainCommand::save(const TrainingRun &run, const Epoch &sofar) {
  const Checkpoint checkpoint{steps,
                              {{"epoch", sofar.asJson()}, {"history", history}},
                              settings(),
                              run.states()};
  if (Result<void> written =
          writeCheckpoint(checkpointFolder, checkpoint, keptCheckpoints);
      !written)
    std::fprintf(stderr, "note: %s; the run goes on\n",
                 written.error().message.c_str());
}

Result<void> TrainCommand::resume(TrainingRun &run) {
  if (checkpointFolder.empty())
    return {};
  Result<std::optional<Checkpoint>> newest = newestCheckpoint(checkpointFolder);
  if (!newest)
    return newest.takeError();
  if (!*newest)
    return resumes ? Result<void>(usageError("--resume: there is no checkpoint "
                                             "in '" +
                                             checkpointFolder + "'"))
                   : Result<void>();
  if (!resumes)
    return usageError("--checkpoint-dir '" + checkpointFolder +
                      "' holds the checkpoints of a run; --resume goes on "
                      "from the newest");
  if (Result<void> same = checkSettings(checkpointFolder, **newest, settings());
      !same)
    return same;
  steps = (*newest)->steps;
  const nlohmann::json &progress = (*newest)->progress;
  begun = Epoch::of(progress.value("epoch", nlohmann::json::object()));
  history = progress.value("history", nlohmann::json::array());
  run.restore(std::move((*newest)->states));
  std::fprintf(stderr, "note: going on after step %llu\n",
               static_cast<unsigned long long>(steps));
  return {};
}

/// A run that goes on keeps the lines of the steps before its checkpoint.
Result<void> TrainCommand::openLog() {
  if (logFile.empty())
    return {};
  std::vector<std::string> kept;
  if (steps != 0) {
    std::ifstream old(logFile);
    for (std::string line; std::getline(old, line);) {
      const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
      if (!json.is_object())
        continue;
      if (json.contains("step")
              ? json.value("step", uint64_t(0)) <= steps
              : json.value("epoch", uint64_t(0)) <= history.size())
        kept.push_back(line);
    }
  }
  logStream.open(logFile);
  for (const std::string &line : kept)
    logStream << line << '\n';
  logStream.flush();
  if (!logStream)
    return systemError("--log '" + logFile + "': cannot be written to");
  return {};
}

Result<void> TrainCommand::checkUsage() const {
  if (checkpointFolder.empty() && (resumes || checkpointSteps))
    return usageError(std::string(resumes ? "--resume" : "--checkpoint-every") +
                      " needs --checkpoint-dir DIR");
  if (output.empty() && stepFile.empty())
    return usageError("nothing to do: give -o FILE for the trained model, or "
                      "--write-step FILE");
  if (isLogits && isProbabilities)
    return usageError("--logits and --probabilities: give one of them");
  if (options.optimizer.nesterov && options.optimizer.momentum == 0)
    return usageError("--nesterov needs --momentum");
  if (!(rate.rate >= 0))
    return usageError("--lr: a number from 0 on is expected");
  for (double each : {options.optimizer.beta1, options.optimizer.beta2})
    if (!(each > 0 && each < 1))
      return usageError("--beta1, --beta2: a number between 0 and 1 is "
                        "expected");
  for (const auto &[flag, file] :
       {std::pair("-o", &output), std::pair("--log", &logFile),
        std::pair("--write-step", &stepFile)})
    if (Result<void> good = checkOutputFile(flag, *file, ""); !good)
      return good;
  return {};
}

Result<void> TrainCommand::loadData(Session &session,
                                    const NamedShapes &shapes) {
  for (auto *each : {&dataOptions, &validationOptions}) {
    if (each->source.empty())
      continue;
    each->labels = labels;
    each->pictures = pictures;
    Result<TrainingData> loaded =
        TrainingData::load(session, common.model, *each, shapes);
    if (!loaded)
      return loaded.takeError();
    (each == &dataOptions ? data : validation) = std::move(*loaded);
  }
  if (dropLast && data->count() < batch)
    return usageError(
        "--drop-last: there are " + std::to_string(data->count()) +
        " samples, which do not fill a batch of " + std::to_string(batch));
  return {};
}

Result<TrainRequest>
TrainCommand::request(const SessionOptions &session) const {
  Result<ModelRequest> input = modelRequest(common);
  if (!input)
    return input.takeError();
  TrainRequest request;
  request.input = std::move(*input);
  request.options = options;
  if (isLogits || isProbabilities)
    request.options.loss.isLogits = isLogits;
  request.passes = passOptions(common);
  request.threads = session.threads;
  request.kernelFolder = session.cacheFolder;
  request.compiler = compilerIdentity();
  request.ceilings = session.ceilings;
  request.fastConvolution = session.fastConvolution;
  request.cpu = session.cpu;
  request.denormals = session.denormals;
  request.interprets = session.backend == Backend::Interpreter;
  return request;
}

uint64_t TrainCommand::batchesPerEpoch() const {
  return dropLast ? data->count() / batch : (data->count() + batch - 1) / batch;
}

/// The samples' numbers in the order of one epoch (Fisher and Yates).
std::vector<size_t> TrainCommand::order(uint64_t epoch) const {
  std::vector<size_t> numbers(data->count());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  if (noShuffle)
    return numbers;
  const uint64_t own = splitMix(seed, epoch);
  for (size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[splitMix(own, i) % i]);
  return numbers;
}

Result<void> TrainCommand::log(const nlohmann::json &line) {
  if (!logStream.is_open())
    return {};
  logStream << line.dump() << '\n' << std::flush;
  if (!logStream)
    return systemError("--log '" + logFile + "': cannot be written to");
  return {};
}

Result<Epoch> TrainCommand::trainEpoch(TrainingRun &run, uint64_t epoch) {
  const std::vector<size_t> numbers = order(epoch);
  const uint64_t batches = batchesPerEpoch();
  auto progress =
      progressLine("training", "steps of epoch " + std::to_string(epoch + 1));
  Epoch all = std::exchange(begun, Epoch());
  for (uint64_t i = steps - epoch * batches; i < batches; ++i) {
    progress(static_cast<unsigned>(i), static_cast<unsigned>(batches));
    const size_t first = i * batch;
    const size_t size = std::min<size_t>(batch, numbers.size() - first);
    const Batch samples = data->batch(std::span(numbers).subspan(first, size));
    const double now = learningRate(rate, steps, epochs * batches, epoch);
    const auto begin = std::chrono::steady_clock::now();
    Result<BatchOutcome> outcome =
        run.step(samples.inputs, samples.target, now);
    if (!outcome)
      return outcome.takeError();
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    ++steps;
    all.add(*outcome);
    const bool isNumber = std::isfinite(outcome->loss);
    if (Result<void> done =
            log({{"step", steps},
                 {"epoch", epoch + 1},
                 {"loss",
                  isNumber ? nlohmann::json(outcome->loss) : nlohmann::json()},
                 {"lr", now},
                 {"ms", took.count()},
                 {"samples_per_s",
                  static_cast<double>(size) / (took.count() * 1e-3)}});
        !done)
      return done.takeError();
    if (!isNumber) {
      notNumber = "the loss is " + std::to_string(outcome->loss) + " at step " +
                  std::to_string(steps);
      break;
    }
    if (checkpointSteps && steps % checkpointSteps == 0 && i + 1 < batches)
      save(run, all);
  }
  progress(static_cast<unsigned>(batches), static_cast<unsigned>(batches));
  return all;
}

Result<Epoch> TrainCommand::validate(TrainingRun &run) {
  Epoch all;
  std::vector<size_t> numbers(validation->count());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  for (size_t first = 0; first < numbers.size(); first += batch) {
    const size_t size = std::min<size_t>(batch, numbers.size() - first);
    const Batch samples =
        validation->batch(std::span(numbers).subspan(first, size));
    Result<BatchOutcome> outcome = run.judge(samples.inputs, samples.target);
    if (!outcome)
      return outcome.takeError();
    all.add(*outcome);
  }
  return all;
}

void TrainCommand::tell(uint64_t epoch, const Epoch &trained,
                        const std::optional<Epoch> &judged, double seconds) {
  nlohmann::json entry = {{"epoch", epoch + 1}, {"loss", trained.meanLoss()}};
  std::string line =
      text("epoch %llu of %llu: loss %.4f",
           static_cast<unsigned long long>(epoch + 1),
           static_cast<unsigned long long>(epochs), trained.meanLoss());
  if (trained.hasLabels) {
    entry["accuracy"] = trained.accuracy();
    line += text(", accuracy %.2f %%", trained.accuracy() * 100);
  }
  if (judged) {
    entry["validation_loss"] = judged->meanLoss();
    line += text("; validation loss %.4f", judged->meanLoss());
    if (judged->hasLabels) {
      entry["validation_accuracy"] = judged->accuracy();
      line += text(", accuracy %.2f %%", judged->accuracy() * 100);
    }
  }
  const double samples =
      static_cast<double>(dropLast ? batchesPerEpoch() * batch : data->count());
  entry["seconds"] = seconds;
  line += text("; %.1f s, %.0f samples/s", seconds, samples / seconds);
  history.push_back(std::move(entry));
  if (!common.json)
    std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

Result<int> TrainCommand::train(TrainingRun &run) {
  for (uint64_t epoch = history.size(); epoch < epochs; ++epoch) {
    const auto begin = std::chrono::steady_clock::now();
    Result<Epoch> trained = trainEpoch(run, epoch);
    if (!trained)
      return trained.takeError();
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    if (notNumber) {
      std::fprintf(stderr, "sinter: %s: %s; nothing was written\n",
                   common.model.c_str(), notNumber->c_str());
      return 1;
    }
    std::optional<Epoch> judged;
    if (validation) {
      Result<Epoch> outcome = validate(run);
      if (!outcome)
        return outcome.takeError();
      judged = *outcome;
      nlohmann::json line = {{"epoch", epoch + 1},
                             {"validation_loss", judged->meanLoss()}};
      if (judged->hasLabels)
        line["accuracy"] = judged->accuracy();
      if (Result<void> done = log(line); !done)
        return done.takeError();
    }
    tell(epoch, *trained, judged, took.count());
    if (!checkpointFolder.empty())
      save(run, Epoch());
  }
  if (steps == epochs * batchesPerEpoch() && run.values().empty())
    return usageError("--resume: the run in '" + checkpointFolder +
                      "' ended; --epochs asks for no more");
  if (Result<void> written = run.source().write(run.values(), output, force);
      !written)
    return written.takeError();
  if (common.json)
    printJsonLine({{"model", common.model},
                   {"output", output},
                   {"steps", steps},
                   {"weights", run.source().weights().size()},
                   {"epochs", history}});
  return 0;
}

Result<int> TrainCommand::run() {
  if (Result<void> good = checkUsage(); !good)
    return good.takeError();
  Result<SessionOptions> wanted = sessionOptions(common);
  if (!wanted)
    return wanted.takeError();
  wanted->note = {};
  const SessionOptions kept = *wanted;
  auto session = Session::open(common.model, std::move(*wanted));
  if (!session)
    return session.takeError();
  if (Result<void> done = loadData(**session, kept.shapes); !done)
    return done.takeError();
  Result<TrainRequest> how = request(kept);
  if (!how)
    return how.takeError();
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  auto model = (*compiler)->train(*how);
  if (!model)
    return model.takeError();
  if (!stepFile.empty()) {
    std::vector<size_t> first(std::min<size_t>(batch, data->count()));
    std::iota(first.begin(), first.end(), size_t(0));
    const Batch samples = data->batch(first);
    if (Result<void> done =
            (*model)->writeStep(samples.inputs, samples.target, stepFile);
        !done)
      return done.takeError();
    if (output.empty())
      return 0;
  }
  TrainingRun run(std::move(*model), kept.threads, kept.denormals);
  if (Result<void> ready = resume(run); !ready)
    return ready.takeError();
  if (Result<void> open = openLog(); !open)
    return open.takeError();
  return train(run);
}

} // namespace

std::unique_ptr<Command> makeTrainCommand(CLI::App &app) {
  return std::make_unique<TrainCommand>(app);
}

} // namespace sinter::driver
