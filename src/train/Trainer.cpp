//===- Trainer.cpp - trains a model on data -------------------------------===//

#include "train/Trainer.h"

#include "data/BatchQueue.h"
#include "engine/MpiLibrary.h"
#include "train/Classes.h"
#include "train/OpenTrainable.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace sinter {

using TrainClock = std::chrono::steady_clock;

std::string NotFiniteStep::text() const {
  return std::string(isLossFinite ? "a gradient" : "the loss") + " of step " +
         std::to_string(step) + " is not " +
         (isLossFinite ? "finite" : "a number") + ": " + why;
}

//===----------------------------------------------------------------------===//
// The model, the data and the processes
//===----------------------------------------------------------------------===//

void Trainer::note(const std::string &text) const {
  if (isTelling && options.note)
    options.note(text);
}

/// The data-parallel processes. A step takes a batch of each.
Result<Processes> Trainer::connect() {
  Result<Processes> group = Processes();
  if (isUnderMpi()) {
    const uint32_t started = mpiProcesses().value_or(1);
    auto own = connectMpi({options.replicas ? options.replicas : started, 1});
    if (!own)
      return own.takeError();
    group = Processes(std::move(*own));
    isTelling = group->isFirst();
    if (!isTelling)
      how.passes.note = nullptr;
  } else if (options.replicas > 1) {
    group = Processes(options.replicas, how.backend == Backend::Interpreter);
  }
  processes = group->size();
  options.batch *= processes;
  return group;
}

Result<void> Trainer::loadData() {
  Result<std::vector<TargetArray>> targets = findTargets(*session, options);
  if (!targets)
    return targets.takeError();
  for (bool validates : {false, true}) {
    if (validates && !options.validates())
      continue;
    TrainingDataOptions source = options.dataOptions(validates, *targets);
    source.note = [this](const std::string &text) { note(text); };
    Result<TrainingData> loaded =
        TrainingData::load(*session, options.model, source, how.shapes);
    if (!loaded)
      return loaded.takeError();
    (validates ? validation : data) = std::move(*loaded);
  }
  if (Result<void> chosen =
          chooseHead(options, session->model(), &*data,
                     [this](const std::string &text) { note(text); });
      !chosen)
    return chosen;
  return makeOrders();
}

Result<void> Trainer::makeOrders() {
  if (data->count() < processes)
    return usageError("there are " + std::to_string(data->count()) +
                      " samples for " + std::to_string(processes) +
                      " processes");
  batches.emplace(data->bucketsOfSamples(), options.batch, options.dropLast);
  if (validation)
    judged.emplace(validation->bucketsOfSamples(), options.batch,
                   /*dropsLast=*/false);
  if (batches->count() == 0)
    return usageError(options.names.dropLast + ": there are " +
                      std::to_string(data->count()) +
                      " samples, which do not fill a batch of " +
                      std::to_string(options.batch));
  return {};
}

/// Whether all processes of mpirun have the same settings.
Result<void> Trainer::checkSame(Processes &group) const {
  if (!isUnderMpi())
    return {};
  Result<Hash128> program = session->identity();
  if (!program)
    return program.takeError();
  return group.checkSame(
      Hasher()
          .add(program->text())
          .add(options.settings(data->count(), processes).dump())
          .finish());
}

Result<std::unique_ptr<Trainer>> Trainer::open(TrainOptions options,
                                               SessionOptions session) {
  if (Result<void> good = options.check(); !good)
    return good.takeError();
  // Notes on the model appear once, when it is read for training.
  session.note = nullptr;
  std::unique_ptr<Trainer> made(
      new Trainer(std::move(options), std::move(session)));
  Result<Processes> group = made->connect();
  if (!group)
    return group.takeError();
  auto opened = Session::open(made->options.model, made->how);
  if (!opened)
    return opened.takeError();
  made->session = std::move(*opened);
  if (Result<void> done = made->loadData(); !done)
    return done.takeError();
  if (Result<void> same = made->checkSame(*group); !same)
    return same.takeError();
  auto kept = preprocessingToKeep(made->session->model(),
                                  made->options.pictures.preprocessing);
  if (!kept)
    return inFile(kept.takeError(), made->options.model);
  for (auto &entry : *kept)
    made->options.metadata.push_back(std::move(entry));
  auto model = openTrainable(
      made->options, made->how,
      [trainer = made.get()](const std::string &text) { trainer->note(text); });
  if (!model)
    return model.takeError();
  made->run = std::make_unique<TrainingRun>(std::move(*model), made->how,
                                            std::move(*group));
  return made;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// A run continues without a checkpoint that cannot be written.
void Trainer::save(const Epoch &sofar) {
  if (!isTelling)
    return;
  nlohmann::json progress = {{"epoch", sofar.asJson()},
                             {"report", told.asJson()}};
  if (bestOne)
    progress["best"] = bestOne->asJson();
  const Checkpoint checkpoint{doneSteps, std::move(progress),
                              options.settings(data->count(), processes),
                              run->states()};
  if (Result<void> written = writeCheckpoint(
          options.checkpointFolder, checkpoint, options.keptCheckpoints,
          bestOne ? std::optional(bestOne->step) : std::nullopt,
          checkpointNames());
      !written)
    note(written.error().message() + "; the run goes on");
  else
    kept = doneSteps;
}

/// A resumed run has the settings of the previous one, but may have more
/// epochs.
Result<void> Trainer::checkSame(const Checkpoint &newest) const {
  nlohmann::json now = options.settings(data->count(), processes);
  const auto before = newest.settings.find(epochsSetting);
  if (before != newest.settings.end() && before->is_number_unsigned() &&
      before->get<uint64_t>() < options.epochs) {
    note(options.names.resumes + ": " + before->dump() + " epochs become " +
         std::to_string(options.epochs) +
         (options.rate.dependsOnEnd()
              ? "; rates follow " + options.names.schedule +
                    " over all of these from here on"
              : ""));
    now[epochsSetting] = *before;
  }
  return checkSettings(options.checkpointFolder, newest, now,
                       checkpointNames());
}

Result<void> Trainer::goOn(Checkpoint newest) {
  const std::string &folder = options.checkpointFolder;
  if (Result<void> same = checkSame(newest); !same)
    return same;
  doneSteps = newest.steps;
  kept = doneSteps;
  const nlohmann::json none = nlohmann::json::object();
  begun = Epoch::of(newest.progress.value("epoch", none));
  told = TrainingHistory::of(newest.progress.value("report", none));
  if (const nlohmann::json best = newest.progress.value("best", none);
      !best.empty()) {
    bestOne = {best.value("step", uint64_t(0)),
               best.value("validation_loss", 0.0)};
    if (options.writesBest) {
      Result<Checkpoint> kept = checkpointOf(folder, bestOne->step);
      if (!kept)
        return kept.takeError();
      bestStates = std::move(kept->states);
    }
  }
  run->restore(newest.states);
  note("going on after step " + std::to_string(doneSteps));
  return {};
}

Result<void> Trainer::resume() {
  const std::string &folder = options.checkpointFolder;
  if (folder.empty())
    return {};
  Result<std::optional<Checkpoint>> newest = newestCheckpoint(folder);
  if (!newest)
    return newest.takeError();
  if (!*newest)
    return options.resumes
               ? Result<void>(usageError(options.names.resumes +
                                         ": there is no checkpoint in '" +
                                         folder + "'"))
               : Result<void>();
  if (!options.resumes)
    return usageError(options.names.checkpointFolder + " '" + folder +
                      "' holds the checkpoints of a run; " +
                      options.names.resumes + " goes on from the newest");
  return goOn(std::move(**newest));
}

//===----------------------------------------------------------------------===//
// Steps and epochs
//===----------------------------------------------------------------------===//

uint64_t Trainer::stepsPerEpoch() const {
  return (batches->count() + options.accumulated - 1) / options.accumulated;
}

/// The batches of one epoch.
std::vector<std::vector<size_t>> Trainer::batchesOf(uint64_t epoch) const {
  std::vector<size_t> numbers(data->count());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  return batches->batchesOf(options.noShuffle
                                ? numbers
                                : shuffled(data->count(), options.seed, epoch));
}

/// Of the samples in their order.
Result<SharedBatch> Trainer::firstBatch() {
  std::vector<size_t> all(data->count());
  std::iota(all.begin(), all.end(), size_t(0));
  const std::vector<size_t> first = batches->batchesOf(all).front();
  return data->parts(first, /*epoch=*/0, run->group());
}

/// Reports early what would end the run at its last batch, or its first
/// validation. Values that buckets truncate may be anything.
Result<void> Trainer::checkLabels() {
  if (!options.buckets.sizes.empty())
    return {};
  for (const std::optional<TrainingData> *set : {&data, &validation})
    if (*set)
      if (Result<void> good = run->source().checkLabels((*set)->allTargets());
          !good)
        return usageError((*set)->where() + ": " + good.error().message());
  return {};
}

/// One batch of a step. A batch whose loss or gradients are not finite is kept
/// for the report.
Result<BatchOutcome> Trainer::step(SharedBatch &samples, double rate,
                                   bool updates, Epoch &all) {
  Result<BatchOutcome> outcome = run->step(samples, rate, updates);
  // A wrong label is an error of the data.
  if (!outcome && outcome.error().kind == ErrorKind::Usage)
    return inFile(outcome.takeError(), data->where());
  if (!outcome)
    return outcome;
  if (!std::exchange(hasCheckedLabels, true))
    if (Result<void> good = checkLabels(); !good)
      return good.takeError();
  all.add(*outcome);
  if (!outcome->isFinite()) {
    isLossFinite = std::isfinite(outcome->loss);
    notNumber = std::move(samples);
  }
  return outcome;
}

Result<Epoch> Trainer::trainEpoch(uint64_t epoch, TrainObserver &observer) {
  const std::vector<std::vector<size_t>> all = batchesOf(epoch);
  const uint64_t each = options.accumulated;
  Epoch sofar = std::exchange(begun, Epoch());
  const uint64_t next = (doneSteps - epoch * stepsPerEpoch()) * each;
  BatchQueue queue(
      [&](uint64_t i) { return data->parts(all[i], epoch, run->group()); },
      next, all.size());
  for (uint64_t i = next; i < all.size() && !notNumber;) {
    const double rate =
        learningRate(options.rate, doneSteps, totalSteps(), epoch);
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
      const auto begin = TrainClock::now();
      Result<BatchOutcome> outcome =
          step(*made, rate, /*updates=*/i + 1 == end, sofar);
      if (!outcome)
        return outcome.takeError();
      took += TrainClock::now() - begin;
      own.add(*outcome);
      // One batch's loss itself, without another rounding.
      const bool isOne = each == 1 || !outcome->isFinite();
      loss = isOne ? outcome->loss : own.meanLoss();
      losses = isOne ? outcome->losses : own.meanLosses();
    }
    ++doneSteps;
    const DoneStep done{doneSteps,    epoch, loss,  rate,
                        took.count(), size,  losses};
    told.add(done);
    observer.step(done, sofar);
    if (!notNumber && options.checkpointSteps &&
        doneSteps % options.checkpointSteps == 0 && i < all.size())
      save(sofar);
    // The last one of an epoch is followed by the validation.
    if (!notNumber && i < all.size())
      if (Result<void> goesOn = endIfWanted(observer, sofar); !goesOn)
        return goesOn.takeError();
  }
  return sofar;
}

/// The error that ends the run, which is kept first, if \p observer wants it.
Result<void> Trainer::endIfWanted(TrainObserver &observer, const Epoch &sofar) {
  if (!observer.wantsEnd() || doneSteps == totalSteps())
    return {};
  if (!options.checkpointFolder.empty() && kept != doneSteps)
    save(sofar);
  return Cancellation::error("training");
}

Result<std::optional<Epoch>> Trainer::validate() {
  if (!validation)
    return std::optional<Epoch>();
  Epoch all;
  std::vector<size_t> numbers(validation->count());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  const std::vector<std::vector<size_t>> parts = judged->batchesOf(numbers);
  BatchQueue queue(
      [&](uint64_t i) {
        return validation->parts(parts[i], /*epoch=*/0, run->group());
      },
      0, parts.size());
  for (uint64_t i = 0; i < parts.size(); ++i) {
    Result<SharedBatch> samples = queue.next();
    if (!samples)
      return samples.takeError();
    Result<BatchOutcome> outcome = run->judge(*samples);
    if (!outcome)
      return outcome.takeError();
    all.add(*outcome);
  }
  return std::optional(all);
}

/// Runs the step again with checks. It left the weights unchanged.
Result<NotFiniteStep> Trainer::explainNotFinite() {
  Result<std::string> why = run->firstNotNumber(*notNumber);
  if (!why)
    return why.takeError();
  return NotFiniteStep{doneSteps, isLossFinite, std::move(*why)};
}

void Trainer::keepBest(double loss) {
  if (bestOne && !(loss < bestOne->loss))
    return;
  bestOne = {doneSteps, loss};
  if (options.writesBest)
    bestStates = run->states();
}

Result<std::optional<NotFiniteStep>> Trainer::train(TrainObserver &observer) {
  for (uint64_t epoch = told.epochs().size(); epoch < options.epochs; ++epoch) {
    const auto begin = TrainClock::now();
    Result<Epoch> trained = trainEpoch(epoch, observer);
    if (!trained)
      return trained.takeError();
    const std::chrono::duration<double> took = TrainClock::now() - begin;
    if (notNumber) {
      Result<NotFiniteStep> step = explainNotFinite();
      if (!step)
        return step.takeError();
      return std::optional(std::move(*step));
    }
    Result<std::optional<Epoch>> judgement = validate();
    if (!judgement)
      return judgement.takeError();
    if (*judgement)
      keepBest((*judgement)->meanLoss());
    const DoneEpoch done{epoch,      doneSteps,    *trained,
                         *judgement, took.count(), batches->samples()};
    told.add(done);
    observer.epoch(done, told);
    if (Result<void> same = run->checkAgreement(); !same)
      return same.takeError();
    if (!options.checkpointFolder.empty())
      save(Epoch());
    if (Result<void> goesOn = endIfWanted(observer, Epoch()); !goesOn)
      return goesOn.takeError();
  }
  return std::optional<NotFiniteStep>();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Result<void> Trainer::writeStep(StepForm form, const std::string &output) {
  if (!isTelling)
    return {};
  Result<SharedBatch> samples = firstBatch();
  if (!samples)
    return samples.takeError();
  return run->source().writeStep(samples->parts.front(), samples->taking, form,
                                 output);
}

Result<NamedTensors> Trainer::values() {
  // A resumed run may have had no steps left.
  if (run->values().empty()) {
    Result<SharedBatch> batch = firstBatch();
    if (!batch)
      return batch.takeError();
    if (Result<void> ready = run->prepare(*batch); !ready)
      return ready.takeError();
  }
  return options.writesBest ? run->valuesAmong(bestStates) : run->values();
}

Result<void> Trainer::write(const std::string &output, Overwrite overwrite) {
  if (!isTelling)
    return {};
  if (run->values().empty())
    note(options.names.resumes + ": the run in '" + options.checkpointFolder +
         "' had done all epochs; '" + output +
         "' is written from its last checkpoint");
  Result<NamedTensors> all = values();
  if (!all)
    return all.takeError();
  return run->source().write(*all, output, overwrite);
}

} // namespace sinter
