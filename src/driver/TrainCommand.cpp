//===- TrainCommand.cpp - sinter train ------------------------------------===//

#include "driver/BatchOrder.h"
#include "driver/BatchQueue.h"
#include "driver/Checkpoints.h"
#include "driver/Command.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/TrainingReport.h"
#include "engine/CompilerLibrary.h"
#include "engine/MpiLibrary.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace sinter::driver {
namespace {

using Clock = std::chrono::steady_clock;

class TrainCommand : public Command {
public:
  explicit TrainCommand(CLI::App &app) { options.addTo(app); }

  Result<int> run() override;

private:
  Result<void> loadData(Session &session, const NamedShapes &shapes);
  Result<TrainRequest> request(const SessionOptions &session) const;
  Result<int> train(TrainingRun &run);
  Result<Epoch> trainEpoch(TrainingRun &run, uint64_t epoch);
  Result<std::optional<Epoch>> validate(TrainingRun &run);
  Result<int> tellNotNumber(TrainingRun &run);
  Result<void> finish(TrainingRun &run);
  std::vector<std::vector<size_t>> batchesOf(uint64_t epoch) const;
  uint64_t stepsPerEpoch() const;
  Result<Processes> connect(const SessionOptions &session);
  Result<void> writeStep(TrainingRun &run);
  Result<BatchOutcome> step(TrainingRun &run, SharedBatch &samples, double rate,
                            bool updates, Epoch &all);
  Result<void> checkLabels(TrainingRun &run) const;
  Result<void> resume(TrainingRun &run);
  Result<void> goOn(TrainingRun &run, Checkpoint newest);
  void save(TrainingRun &run, const Epoch &sofar);
  void keepBest(const TrainingRun &run, double loss);

  TrainOptions options;
  std::optional<TrainingData> data, validation;
  std::optional<BatchOrder> batches, judged;
  std::unique_ptr<TrainingReport> report;
  uint64_t steps = 0;
  uint32_t processes = 1;
  /// The batch whose loss or gradients were not finite, and whether the loss
  /// was.
  std::optional<SharedBatch> notNumber;
  bool isLossFinite = false, hasCheckedLabels = false;
  /// Of the epoch that a checkpoint was written in.
  Epoch begun;
  /// The least loss of a validation, the step behind which it was, and the
  /// weights then, where they are to be written.
  std::optional<double> bestLoss;
  uint64_t bestStep = 0;
  NamedTensors bestValues;
};

/// A checkpoint that cannot be written does not end the run.
void TrainCommand::save(TrainingRun &run, const Epoch &sofar) {
  if (!run.group().isFirst())
    return;
  nlohmann::json progress = {{"epoch", sofar.asJson()},
                             {"report", report->asJson()}};
  if (bestLoss)
    progress["best"] = {{"step", bestStep}, {"validation_loss", *bestLoss}};
  const Checkpoint checkpoint{steps, std::move(progress),
                              options.settings(data->count(), processes),
                              run.states()};
  if (Result<void> written = writeCheckpoint(
          options.checkpointFolder, checkpoint, options.keptCheckpoints,
          bestLoss ? std::optional(bestStep) : std::nullopt);
      !written)
    printNote(written.error().message + "; the run goes on");
}

Result<void> TrainCommand::goOn(TrainingRun &run, Checkpoint newest) {
  const std::string &folder = options.checkpointFolder;
  if (Result<void> same = checkSettings(
          folder, newest, options.settings(data->count(), processes));
      !same)
    return same;
  steps = newest.steps;
  const nlohmann::json none = nlohmann::json::object();
  begun = Epoch::of(newest.progress.value("epoch", none));
  report->restore(newest.progress.value("report", none));
  if (const nlohmann::json best = newest.progress.value("best", none);
      !best.empty()) {
    bestLoss = best.value("validation_loss", 0.0);
    bestStep = best.value("step", uint64_t(0));
    if (options.writesBest) {
      Result<Checkpoint> kept = checkpointOf(folder, bestStep);
      if (!kept)
        return kept.takeError();
      bestValues = std::move(kept->states);
    }
  }
  run.restore(newest.states);
  printNote("going on after step " + std::to_string(steps));
  return {};
}

Result<void> TrainCommand::resume(TrainingRun &run) {
  const std::string &folder = options.checkpointFolder;
  if (folder.empty())
    return {};
  Result<std::optional<Checkpoint>> newest = newestCheckpoint(folder);
  if (!newest)
    return newest.takeError();
  if (!*newest)
    return options.resumes
               ? Result<void>(usageError("--resume: there is no checkpoint "
                                         "in '" +
                                         folder + "'"))
               : Result<void>();
  if (!options.resumes)
    return usageError("--checkpoint-dir '" + folder +
                      "' holds the checkpoints of a run; --resume goes on "
                      "from the newest");
  return goOn(run, std::move(**newest));
}

Result<void> TrainCommand::loadData(Session &session,
                                    const NamedShapes &shapes) {
  if (options.isLogits || options.isProbabilities)
    options.loss.isLogits = options.isLogits;
  Result<std::vector<TargetArray>> targets =
      resolveLosses(session, options.losses, options.lossOutput, options.loss,
                    options.training);
  if (!targets)
    return targets.takeError();
  for (bool validates : {false, true}) {
    if (validates && options.validation.empty())
      continue;
    Result<TrainingData> loaded =
        TrainingData::load(session, options.common.model,
                           options.dataOptions(validates, *targets), shapes);
    if (!loaded)
      return loaded.takeError();
    (validates ? validation : data) = std::move(*loaded);
  }
  if (data->count() < processes)
    return usageError("there are " + std::to_string(data->count()) +
                      " samples for " + std::to_string(processes) +
                      " processes");
  batches.emplace(data->bucketsOfSamples(), options.batch, options.dropLast);
  if (validation)
    judged.emplace(validation->bucketsOfSamples(), options.batch,
                   /*dropsLast=*/false);
  if (batches->count() == 0)
    return usageError("--drop-last: there are " +
                      std::to_string(data->count()) +
                      " samples, which do not fill a batch of " +
                      std::to_string(options.batch));
  return {};
}

Result<TrainRequest>
TrainCommand::request(const SessionOptions &session) const {
  Result<ModelRequest> input = modelRequest(options.common);
  if (!input)
    return input.takeError();
  TrainRequest request;
  request.input = std::move(*input);
  request.options = options.training;
  request.options.accumulates = options.accumulated > 1;
  request.options.seed = options.seed;
  request.passes = passOptions(options.common);
  request.threads = session.threads;
  request.kernelFolder = session.cacheFolder;
  request.compiler = compilerIdentity();
  request.ceilings = session.ceilings;
  static_cast<CodeOptions &>(request) = session;
  request.goesOn = options.resumes;
  request.interprets = session.backend == Backend::Interpreter;
  if (options.memoryLimit)
    request.memoryLimit = options.memoryLimit;
  if (request.memoryLimit && request.interprets)
    return usageError("--memory-limit: the interpreter plans no memory");
  return request;
}

uint64_t TrainCommand::stepsPerEpoch() const {
  return (batches->count() + options.accumulated - 1) / options.accumulated;
}

/// The batches of one epoch.
std::vector<std::vector<size_t>> TrainCommand::batchesOf(uint64_t epoch) const {
  std::vector<size_t> numbers(data->count());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  return batches->batchesOf(options.noShuffle
                                ? numbers
                                : shuffled(data->count(), options.seed, epoch));
}

/// Says at once what would end the run at its last batch, or its first
/// validation. What buckets cut off may be anything.
Result<void> TrainCommand::checkLabels(TrainingRun &run) const {
  if (!options.buckets.sizes.empty())
    return {};
  for (const auto &[flag, set] :
       {std::pair("--data", &data), std::pair("--validate", &validation)})
    if (*set)
      if (Result<void> good = run.source().checkLabels((*set)->allTargets());
          !good)
        return usageError(std::string(flag) + ": " + good.error().message);
  return {};
}

/// One batch of a step. A batch whose loss or gradients are not finite is kept.
Result<BatchOutcome> TrainCommand::step(TrainingRun &run, SharedBatch &samples,
                                        double rate, bool updates, Epoch &all) {
  Result<BatchOutcome> outcome = run.step(samples, rate, updates);
  if (!outcome)
    return outcome;
  if (!std::exchange(hasCheckedLabels, true))
    if (Result<void> good = checkLabels(run); !good)
      return good.takeError();
  all.add(*outcome);
  if (!outcome->isFinite()) {
    isLossFinite = std::isfinite(outcome->loss);
    notNumber = std::move(samples);
  }
  return outcome;
}

Result<Epoch> TrainCommand::trainEpoch(TrainingRun &run, uint64_t epoch) {
  const std::vector<std::vector<size_t>> all = batchesOf(epoch);
  const uint64_t each = options.accumulated;
  Epoch sofar = std::exchange(begun, Epoch());
  const uint64_t next = (steps - epoch * stepsPerEpoch()) * each;
  BatchQueue queue(
      [&](uint64_t i) { return data->parts(all[i], epoch, run.group()); }, next,
      all.size());
  for (uint64_t i = next; i < all.size() && !notNumber;) {
    const double rate = learningRate(options.rate, steps,
                                     options.epochs * stepsPerEpoch(), epoch);
    Epoch own;
    double loss = 0;
    std::vector<double> losses;
    size_t size = 0;
    std::chrono::duration<double> took{0};
    const uint64_t end = std::min<uint64_t>(all.size(), i + each);
    for (; i < end && !notNumber; ++i) {
      size += all[i].size();
      Result<SharedBatch> made = queue.next();
      if (!made)
        return made.takeError();
      const auto begin = Clock::now();
      Result<BatchOutcome> outcome =
          step(run, *made, rate, /*updates=*/i + 1 == end, sofar);
      if (!outcome)
        return outcome.takeError();
      took += Clock::now() - begin;
      own.add(*outcome);
      // One batch's loss as it is, without another rounding.
      const bool isOne = each == 1 || !outcome->isFinite();
      loss = isOne ? outcome->loss : own.meanLoss();
      losses = isOne ? outcome->losses : own.meanLosses();
    }
    ++steps;
    report->step({steps, epoch, loss, rate, took.count(), size, losses}, sofar);
    if (!notNumber && options.checkpointSteps &&
        steps % options.checkpointSteps == 0 && i < all.size())
      save(run, sofar);
  }
  return sofar;
}

Result<std::optional<Epoch>> TrainCommand::validate(TrainingRun &run) {
  if (!validation)
    return std::optional<Epoch>();
  Epoch all;
  std::vector<size_t> numbers(validation->count());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  const std::vector<std::vector<size_t>> parts = judged->batchesOf(numbers);
  BatchQueue queue(
      [&](uint64_t i) {
        return validation->parts(parts[i], /*epoch=*/0, run.group());
      },
      0, parts.size());
  for (uint64_t i = 0; i < parts.size(); ++i) {
    Result<SharedBatch> samples = queue.next();
    if (!samples)
      return samples.takeError();
    Result<BatchOutcome> outcome = run.judge(*samples);
    if (!outcome)
      return outcome.takeError();
    all.add(*outcome);
  }
  return std::optional(all);
}

/// Runs the step again with checks. It left the weights as they were.
Result<int> TrainCommand::tellNotNumber(TrainingRun &run) {
  report->clear();
  Result<std::string> why = run.firstNotNumber(*notNumber);
  if (!why)
    return why.takeError();
  if (!run.group().isFirst())
    return 1;
  std::fprintf(stderr,
               "sinter: %s: %s of step %llu is not %s: %s; nothing was "
               "written\n",
               options.common.model.c_str(),
               isLossFinite ? "a gradient" : "the loss",
               static_cast<unsigned long long>(steps),
               isLossFinite ? "finite" : "a number", why->c_str());
  return 1;
}

void TrainCommand::keepBest(const TrainingRun &run, double loss) {
  if (bestLoss && !(loss < *bestLoss))
    return;
  bestLoss = loss;
  bestStep = steps;
  if (options.writesBest)
    bestValues = run.values();
}

Result<int> TrainCommand::train(TrainingRun &run) {
  for (uint64_t epoch = report->history().size(); epoch < options.epochs;
       ++epoch) {
    const auto begin = Clock::now();
    Result<Epoch> trained = trainEpoch(run, epoch);
    if (!trained)
      return trained.takeError();
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (notNumber)
      return tellNotNumber(run);
    Result<std::optional<Epoch>> judgement = validate(run);
    if (!judgement)
      return judgement.takeError();
    if (*judgement)
      keepBest(run, (*judgement)->meanLoss());
    report->epoch(epoch, steps, *trained, *judgement, took.count(),
                  batches->samples());
    if (Result<void> same = run.checkAgreement(); !same)
      return same.takeError();
    if (!options.checkpointFolder.empty())
      save(run, Epoch());
  }
  if (Result<void> done = finish(run); !done)
    return done.takeError();
  return 0;
}

Result<void> TrainCommand::finish(TrainingRun &run) {
  if (run.values().empty())
    return usageError("--resume: the run in '" + options.checkpointFolder +
                      "' ended; --epochs asks for no more");
  if (!run.group().isFirst())
    return {};
  const NamedTensors values =
      options.writesBest ? run.valuesAmong(bestValues) : run.values();
  if (Result<void> written = run.source().write(values, options.output,
                                                options.overwrite.allowed());
      !written)
    return written;
  if (!options.common.json)
    return {};
  nlohmann::json line = {{"model", options.common.model},
                         {"output", options.output},
                         {"steps", steps},
                         {"weights", run.source().weights().size()},
                         {"epochs", report->history()}};
  if (bestLoss)
    line["best"] = {{"step", bestStep}, {"validation_loss", *bestLoss}};
  printJsonLine(line);
  return {};
}

/// The processes that train together. A step takes a batch of each.
Result<Processes> TrainCommand::connect(const SessionOptions &session) {
  Result<Processes> group = Processes();
  if (isUnderMpi()) {
    const uint32_t started = mpiProcesses().value_or(1);
    auto own = connectMpi({options.replicas ? options.replicas : started, 1});
    if (!own)
      return own.takeError();
    group = Processes(std::move(*own));
    if (!group->isFirst())
      muteNotes();
  } else if (options.replicas > 1) {
    group =
        Processes(options.replicas, session.backend == Backend::Interpreter);
  }
  processes = group->size();
  options.batch *= processes;
  return group;
}

Result<void> TrainCommand::writeStep(TrainingRun &run) {
  if (!run.group().isFirst())
    return {};
  std::vector<size_t> all(data->count());
  std::iota(all.begin(), all.end(), size_t(0));
  const std::vector<size_t> first = batches->batchesOf(all).front();
  Result<SharedBatch> samples = data->parts(first, /*epoch=*/0, run.group());
  if (!samples)
    return samples.takeError();
  const Batch &part = samples->parts.front();
  return run.source().writeStep(part, samples->taking,
                                options.writesStates ? StepForm::Stateful
                                                     : StepForm::Public,
                                options.stepFile);
}

Result<int> TrainCommand::run() {
  if (Result<void> good = options.check(); !good)
    return good.takeError();
  Result<SessionOptions> wanted = sessionOptions(options.common);
  if (!wanted)
    return wanted.takeError();
  wanted->note = {};
  const SessionOptions kept = *wanted;
  Result<Processes> group = connect(kept);
  if (!group)
    return group.takeError();
  auto session = Session::open(options.common.model, std::move(*wanted));
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
  TrainingRun run(std::move(*model), kept.threads, kept.denormals,
                  std::move(*group));
  if (!options.stepFile.empty())
    if (Result<void> done = writeStep(run); !done)
      return done.takeError();
  if (options.output.empty()) {
    Result<void> finished = run.group().finish();
    return finished ? Result<int>(0) : finished.takeError();
  }
  report = std::make_unique<TrainingReport>(
      options, options.epochs * stepsPerEpoch(), run.group().isFirst());
  if (Result<void> ready = resume(run); !ready)
    return ready.takeError();
  if (Result<void> open = report->open(steps); !open)
    return open.takeError();
  Result<int> status = train(run);
  if (!status)
    return status;
  // Where one fails, mpirun ends the others.
  if (Result<void> finished = run.group().finish(); !finished)
    return finished.takeError();
  return status;
}

} // namespace

std::unique_ptr<Command> makeTrainCommand(CLI::App &app) {
  return std::make_unique<TrainCommand>(app);
}

} // namespace sinter::driver
