//===- Trainer.cpp - a model in training of the C interface ---------------===//

#include "bindings/c/NewModel.h"
#include "bindings/c/Session.h"

#include "interface/TrainStepOptions.h"
#include "train/BatchTrainer.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct sinter_trainer : sinter::c::Handle {
  sinter_trainer() : Handle(Kind::Trainer) {}

  /// Keeps a model's file that is in memory.
  std::shared_ptr<sinter::MemoryFolder> files;
  /// Of the model.
  std::string path;
  /// The extension of written models; empty: the model's.
  std::string format;
  sinter::c::Configuration configuration;
  /// The names of the model's inputs, then of the targets.
  std::vector<std::string> names;
  /// Of `trainer`.
  mutable std::mutex mutex;
  std::unique_ptr<sinter::BatchTrainer> trainer;
};

namespace sinter::c {

/// The trainer of \p model by the options \p given.
static Result<std::unique_ptr<sinter_trainer>>
makeTrainer(const sinter_model &model, const Configuration &given) {
  auto made = std::make_unique<sinter_trainer>();
  made->files = model.files;
  made->path = model.path;
  made->configuration = model.configuration.with(given);
  const Configuration &all = made->configuration;
  if (Result<void> wanted = all.goesOn(); !wanted)
    return wanted.takeError();
  CommonOptions common;
  common.model = model.path;
  common.note = all.note();
  TrainOptions options;
  if (Result<void> done = parse(all,
                                [&](CLI::App &app) {
                                  addModelOptions(app, common);
                                  addBackend(app, common);
                                  addTrainStep(app, options);
                                  app.add_option("--format", made->format);
                                });
      !done)
    return done.takeError();
  if (Result<void> good = checkStepNumbers(options); !good)
    return good.takeError();
  Result<SessionOptions> how = sessionOptions(common);
  if (!how)
    return how.takeError();
  all.applyTo(*how);
  options.model = model.path;
  options.note = all.note();
  nameStepOptions(options.names);
  auto trainer = BatchTrainer::open(std::move(options), std::move(*how));
  if (!trainer)
    return trainer.takeError();
  made->trainer = std::move(*trainer);
  for (const ModelInput &input : made->trainer->model().inputs)
    made->names.push_back(input.spec.name);
  for (const TargetArray &target : made->trainer->targets())
    made->names.push_back(target.name);
  return made;
}

/// Copies of \p count arrays, which \p trainer takes.
static Result<std::vector<Tensor>> batchOf(const sinter_trainer &trainer,
                                           const sinter_tensor *batch,
                                           size_t count) {
  if (count != trainer.names.size())
    return usageError(
        "a batch has " + std::to_string(trainer.names.size()) +
        " arrays, the model's inputs and the targets; given are " +
        std::to_string(count));
  if (Result<void> good = checkPointer(batch, "batch"); !good)
    return good.takeError();
  std::vector<Tensor> all;
  for (size_t i = 0; i < count; ++i) {
    Result<Tensor> copy =
        copyOf(&batch[i], "batch: '" + trainer.names[i] + "'");
    if (!copy)
      return copy.takeError();
    all.push_back(std::move(*copy));
  }
  return all;
}

/// Calls \p call, of BatchTrainer, with a batch.
template <typename Call>
static sinter_status
withBatch(sinter_trainer *trainer, const sinter_tensor *batch, size_t count,
          double *loss, sinter_error **error, Call &&call) {
  return guarded(trainer, Handle::Kind::Trainer, error, [&]() -> Result<void> {
    Result<std::vector<Tensor>> all = batchOf(*trainer, batch, count);
    if (!all)
      return all.takeError();
    const std::lock_guard lock(trainer->mutex);
    Result<BatchOutcome> outcome = call(*trainer->trainer, std::move(*all));
    if (!outcome)
      return outcome.takeError();
    if (loss)
      *loss = outcome->loss;
    return {};
  });
}

/// A model with the weights of \p trainer.
static Result<std::unique_ptr<sinter_model>>
trainedModel(const sinter_trainer &trainer) {
  Result<NewModel> made = NewModel::like(trainer.path, trainer.format);
  if (!made)
    return made.takeError();
  if (Result<void> written =
          trainer.trainer->write(made->path(), Overwrite::Nothing);
      !written)
    return written.takeError();
  return made->open(trainer.configuration);
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_trainer_new(const sinter_model *model,
                                 const sinter_options *options,
                                 sinter_trainer **trainer,
                                 sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(trainer, "trainer"); !good)
      return good;
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    Result<std::unique_ptr<sinter_trainer>> made = makeTrainer(*model, *given);
    if (!made)
      return made.takeError();
    *trainer = made->release();
    return {};
  });
}

size_t sinter_trainer_array_count(const sinter_trainer *trainer) {
  return Use::of(trainer, Handle::Kind::Trainer) ? trainer->names.size() : 0;
}

const char *sinter_trainer_array_name(const sinter_trainer *trainer,
                                      size_t index) {
  return index < sinter_trainer_array_count(trainer)
             ? trainer->names[index].c_str()
             : nullptr;
}

sinter_status sinter_trainer_step(sinter_trainer *trainer,
                                  const sinter_tensor *batch, size_t count,
                                  double *loss, sinter_error **error) {
  return withBatch(trainer, batch, count, loss, error,
                   [](BatchTrainer &to, std::vector<Tensor> all) {
                     return to.step(std::move(all));
                   });
}

sinter_status sinter_trainer_evaluate(sinter_trainer *trainer,
                                      const sinter_tensor *batch, size_t count,
                                      double *loss, sinter_error **error) {
  return withBatch(trainer, batch, count, loss, error,
                   [](BatchTrainer &to, std::vector<Tensor> all) {
                     return to.evaluate(std::move(all));
                   });
}

sinter_status sinter_trainer_learning_rate(const sinter_trainer *trainer,
                                           double *rate, sinter_error **error) {
  return guarded(trainer, Handle::Kind::Trainer, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(rate, "rate"); !good)
      return good;
    const std::lock_guard lock(trainer->mutex);
    *rate = trainer->trainer->rate();
    return {};
  });
}

sinter_status sinter_trainer_set_learning_rate(sinter_trainer *trainer,
                                               double rate,
                                               sinter_error **error) {
  return guarded(trainer, Handle::Kind::Trainer, error, [&] {
    const std::lock_guard lock(trainer->mutex);
    return trainer->trainer->setRate(rate);
  });
}

sinter_status sinter_trainer_model(const sinter_trainer *trainer,
                                   sinter_model **model, sinter_error **error) {
  return guarded(trainer, Handle::Kind::Trainer, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(model, "model"); !good)
      return good;
    const std::lock_guard lock(trainer->mutex);
    Result<std::unique_ptr<sinter_model>> made = trainedModel(*trainer);
    if (!made)
      return made.takeError();
    *model = made->release();
    return {};
  });
}

sinter_status sinter_trainer_free(sinter_trainer *trainer,
                                  sinter_error **error) {
  return freeHandle(trainer, Handle::Kind::Trainer, error);
}

} // extern "C"
