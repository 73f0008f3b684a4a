//===- BatchTrainer.cpp - trains a model on a caller's batches ------------===//

#include "train/BatchTrainer.h"

#include "train/Classes.h"
#include "train/OpenTrainable.h"
#include "train/Trainer.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace sinter {

Result<std::unique_ptr<BatchTrainer>>
BatchTrainer::open(TrainOptions options, SessionOptions session) {
  if (Result<void> good = options.check(); !good)
    return good.takeError();
  // Notes on the model appear once, when it is read for training.
  session.note = nullptr;
  std::unique_ptr<BatchTrainer> made(
      new BatchTrainer(std::move(options), std::move(session)));
  auto opened = Session::open(made->options.model, made->how);
  if (!opened)
    return opened.takeError();
  made->session = std::move(*opened);
  Result<std::vector<TargetArray>> targets =
      findTargets(*made->session, made->options);
  if (!targets)
    return targets.takeError();
  made->targetArrays = std::move(*targets);
  if (Result<void> chosen = chooseHead(made->options, made->session->model(),
                                       /*data=*/nullptr, {});
      !chosen)
    return chosen.takeError();
  auto model = openTrainable(made->options, made->how, made->options.note);
  if (!model)
    return model.takeError();
  made->run = std::make_unique<TrainingRun>(std::move(*model), made->how);
  return made;
}

/// The batch, checked as samples of `sinter train` are, as the one process's.
Result<SharedBatch> BatchTrainer::shared(std::vector<Tensor> batch) {
  const std::vector<ModelInput> &inputs = model().inputs;
  if (batch.size() != inputs.size() + targetArrays.size())
    return usageError("a batch has " + std::to_string(inputs.size()) +
                      " inputs and " + std::to_string(targetArrays.size()) +
                      " targets; given are " + std::to_string(batch.size()) +
                      " arrays");
  TrainingDataOptions source =
      options.dataOptions(/*validates=*/false, targetArrays);
  source.names.source = "batch";
  source.firstSample = samples;
  source.arrays.emplace();
  for (size_t i = 0; i < batch.size(); ++i)
    source.arrays->emplace_back(i < inputs.size()
                                    ? inputs[i].spec.name
                                    : targetArrays[i - inputs.size()].name,
                                std::move(batch[i]));
  Result<TrainingData> data =
      TrainingData::load(*session, options.model, source, how.shapes);
  if (!data)
    return data.takeError();
  std::vector<size_t> all(data->count());
  std::iota(all.begin(), all.end(), size_t(0));
  return data->parts(all, /*epoch=*/0, run->group());
}

/// What is wrong with a step whose \p outcome is not finite.
Error BatchTrainer::notFinite(const SharedBatch &batch,
                              const BatchOutcome &outcome) {
  Result<std::string> why = run->firstNotNumber(batch);
  if (!why)
    return why.takeError();
  const NotFiniteStep step{batches / options.accumulated + 1,
                           std::isfinite(outcome.loss), std::move(*why)};
  return Error{ErrorKind::WrongResult, step.text()};
}

Result<BatchOutcome> BatchTrainer::step(std::vector<Tensor> batch) {
  if (hasFailed)
    return usageError("no step can follow one whose loss or gradients were not "
                      "finite");
  Result<SharedBatch> samplesOfStep = shared(std::move(batch));
  if (!samplesOfStep)
    return samplesOfStep.takeError();
  const bool updates = (batches + 1) % options.accumulated == 0;
  Result<BatchOutcome> outcome =
      run->step(*samplesOfStep, options.rate.rate, updates);
  if (!outcome)
    return outcome;
  isReady = true;
  if (!outcome->isFinite()) {
    hasFailed = true;
    return notFinite(*samplesOfStep, *outcome);
  }
  ++batches;
  samples += static_cast<uint64_t>(samplesOfStep->parts.front().keys.size());
  return outcome;
}

Result<BatchOutcome> BatchTrainer::evaluate(std::vector<Tensor> batch) {
  Result<SharedBatch> all = shared(std::move(batch));
  if (!all)
    return all.takeError();
  if (!isReady)
    if (Result<void> ready = run->prepare(*all); !ready)
      return ready.takeError();
  isReady = true;
  return run->judge(*all);
}

Result<void> BatchTrainer::setRate(double rate) {
  if (!(rate >= 0) || !std::isfinite(rate))
    return usageError("the learning rate is a number from 0 on");
  options.rate.rate = rate;
  return {};
}

Result<void> BatchTrainer::write(const std::string &output,
                                 Overwrite overwrite) {
  return run->source().write(run->values(), output, overwrite);
}

} // namespace sinter
