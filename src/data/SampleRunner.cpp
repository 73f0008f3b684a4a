#include "data/SampleRunner.h"

#include "data/SampleFiles.h"

#include <algorithm>

namespace sinter {

SampleRunner::SampleRunner(Session &session, std::vector<size_t> varying,
                           SampleRunnerOptions options, TakeOutputs take)
    : session(&session), varying(std::move(varying)),
      options(std::move(options)), take(std::move(take)),
      inputs(inputsOfShapes(session.model(), this->options.shapes)),
      batch(batchOf(inputs, this->varying)) {}

Result<SampleRunner> SampleRunner::of(Session &session,
                                      std::vector<size_t> varying,
                                      SampleRunnerOptions options,
                                      TakeOutputs take) {
  const size_t count = session.model().inputs.size();
  if (std::ranges::any_of(varying, [&](size_t each) { return each >= count; }))
    return usageError("the model has " + std::to_string(count) +
                      " inputs, and the samples are of more");
  SampleRunner runner(session, std::move(varying), std::move(options),
                      std::move(take));
  if (Result<void> chosen = runner.chooseSize(); !chosen)
    return chosen.takeError();
  return runner;
}

/// Whether several samples may become one batch if the sizes are dynamic: what
/// is the same for all samples has no batch, and every output has one.
bool SampleRunner::mayFill() const {
  const BatchDimension all = [&] {
    std::vector<size_t> every = varying;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (std::ranges::find(every, i) == every.end())
        every.push_back(i);
    return batchOf(inputs, every);
  }();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool varies = std::ranges::find(varying, i) != varying.end();
    if (all.has(i) != varies)
      return false;
  }
  const auto hasBatch = [](const ModelOutput &output) {
    return output.ranked && !output.shape.empty() && output.shape[0] < 0;
  };
  return (session->model().states.empty() || options.resetsStates) &&
         std::ranges::all_of(session->model().outputs, hasBatch);
}

Result<void> SampleRunner::chooseSize() {
  constexpr int64_t usual = 8;
  const std::string given =
      options.batchName + " " + std::to_string(options.batch);
  const bool hasBatch =
      std::ranges::find(batch.inputs, true) != batch.inputs.end();
  if (!hasBatch && options.batch > 1)
    return usageError(given + ": the model's inputs have no batch dimension");
  if (!hasBatch)
    return {};
  if (batch.size >= 0) {
    isStatic = true;
    most = batch.size;
    if (options.batch != 0 && options.batch != most)
      return usageError(given + ": the model takes a batch of " +
                        std::to_string(most));
    if (most == 0)
      return usageError("the model takes a batch of 0 samples");
  } else {
    most = options.batch != 0 ? options.batch : mayFill() ? usual : 1;
  }
  return most == 1 ? Result<void>() : checkSize(options.batchName);
}

/// Whether the model takes several samples at a time.
Result<void> SampleRunner::checkSize(const std::string &given) const {
  if (!session->model().states.empty() && !options.resetsStates)
    return usageError(given +
                      ": a model with states takes one sample after "
                      "the other, not " +
                      std::to_string(most) + " at a time");
  for (const size_t input : varying)
    if (!batch.has(input))
      return usageError("input '" + inputs[input].spec.name + "', " +
                        inputs[input].text() +
                        ", differs from sample to sample and has no batch "
                        "dimension, so " +
                        std::to_string(most) + " cannot be run at a time" +
                        (isStatic ? "" : "; give " + given + " 1"));
  return {};
}

/// Whether \p sample can be in one batch with those that wait.
bool SampleRunner::belongs(const std::vector<Tensor> &sample) const {
  if (pending.empty())
    return true;
  const std::vector<Tensor> &first = pending.front().tensors;
  for (const size_t input : varying)
    if (sample[input].type() != first[input].type() ||
        sample[input].shape() != first[input].shape() ||
        sample[input].rank() == 0 || sample[input].dim(0) != 1)
      return false;
  return std::ssize(pending) < most;
}

/// Whether the one that waits is run as it is: alone, and a whole batch.
bool SampleRunner::isWhole() const {
  if (pending.size() != 1)
    return false;
  const auto isNoRow = [&](size_t input) {
    const Tensor &tensor = pending.front().tensors[input];
    return tensor.rank() == 0 || tensor.dim(0) != 1;
  };
  return !isStatic || most == 1 || std::ranges::any_of(varying, isNoRow);
}

/// The inputs of a run on those that wait.
Result<std::vector<Tensor>> SampleRunner::batchTensors() const {
  std::vector<Tensor> tensors = pending.front().tensors;
  if (isWhole())
    return tensors;
  for (const size_t input : varying) {
    std::vector<Tensor> rows;
    for (const Sample &sample : pending)
      rows.push_back(sample.tensors[input]);
    Result<Tensor> all = stackedRows(rows, isStatic ? most : 0);
    if (!all)
      return all.takeError();
    tensors[input] = std::move(*all);
  }
  return tensors;
}

/// Whether what was prepared for \p before is ready for \p now.
static bool servesToo(const std::vector<Tensor> &before,
                      const std::vector<Tensor> &now) {
  if (before.size() != now.size())
    return false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (before[i].shape() != now[i].shape())
      return false;
    if (mayFeedShapes({"", now[i].type(), now[i].shape()}) &&
        (before[i].bytes() != now[i].bytes() ||
         (now[i].bytes() != 0 &&
          std::memcmp(before[i].data(), now[i].data(), now[i].bytes()) != 0)))
      return false;
  }
  return true;
}

/// Makes the session ready for \p tensors.
Result<void> SampleRunner::makeReady(const std::vector<Tensor> &tensors) {
  if (executor && servesToo(readyFor, tensors))
    return {};
  Result<std::shared_ptr<Executor>> made = session->executorFor(tensors);
  if (!made && made.error().kind == ErrorKind::Usage)
    return inside(options.nameOf(pending.front().index), made.takeError());
  if (!made)
    return made.takeError();
  const bool isFirst = !executor;
  executor = std::move(*made);
  readyFor = tensors;
  if (isFirst && options.prepare)
    return options.prepare(*executor);
  return {};
}

Result<std::vector<Tensor>>
SampleRunner::runOn(const std::vector<Tensor> &tensors) {
  if (options.resetsStates && !executor->states().empty())
    executor->resetStates();
  const Stopwatch watch;
  Result<std::vector<Tensor>> outputs =
      executor->run(tensors, options.cancellation);
  runMs += watch.milliseconds();
  ++count;
  if (!outputs)
    return inside(options.nameOf(pending.front().index), outputs.takeError());
  return outputs;
}

/// Whether each of \p outputs has a row for each of the samples; a Usage error
/// if not and the samples cannot run one by one.
Result<bool> SampleRunner::hasRows(const std::vector<Tensor> &outputs,
                                   int64_t rows) const {
  const auto without = std::ranges::find_if(outputs, [&](const Tensor &output) {
    return output.rank() == 0 || output.dim(0) != rows;
  });
  if (without == outputs.end())
    return true;
  if (!isStatic && options.batch == 0)
    return false;
  return usageError(
      "output '" + executor->outputs()[without - outputs.begin()].name + "', " +
      toString(without->type(), without->shape()) +
      ", has no row for each of the " + std::to_string(rows) +
      " samples of a batch" +
      (isStatic ? "" : "; " + options.batchName + " 1 runs one by one"));
}

/// Those that wait, since what looked like a batch is none.
Result<void> SampleRunner::runOneByOne() {
  most = 1;
  std::vector<Sample> all = std::move(pending);
  pending.clear();
  for (Sample &sample : all) {
    pending.push_back(std::move(sample));
    if (Result<void> ran = flush(); !ran)
      return ran;
  }
  return {};
}

/// Gives each of those that wait its rows of \p outputs.
Result<void> SampleRunner::deliver(std::vector<Tensor> outputs, int64_t rows) {
  if (rows == 1)
    return take(pending.front().index, std::move(outputs));
  for (size_t i = 0; i < pending.size(); ++i) {
    std::vector<Tensor> own;
    for (const Tensor &output : outputs)
      own.push_back(rowOfBatch(output, static_cast<int64_t>(i)));
    if (Result<void> taken = take(pending[i].index, std::move(own)); !taken)
      return taken;
  }
  return {};
}

Result<void> SampleRunner::flush() {
  if (pending.empty())
    return {};
  Result<std::vector<Tensor>> tensors = batchTensors();
  if (!tensors)
    return tensors.takeError();
  if (Result<void> ready = makeReady(*tensors); !ready)
    return ready;
  Result<std::vector<Tensor>> outputs = runOn(*tensors);
  if (!outputs)
    return outputs.takeError();
  const int64_t rows = isWhole() ? 1 : isStatic ? most : std::ssize(pending);
  if (rows > 1) {
    Result<bool> have = hasRows(*outputs, rows);
    if (!have)
      return have.takeError();
    if (!*have)
      return runOneByOne();
  }
  if (Result<void> given = deliver(std::move(*outputs), rows); !given)
    return given;
  done += pending.size();
  mostRun = std::max<int64_t>(mostRun, rows);
  pending.clear();
  return {};
}

Result<void> SampleRunner::add(size_t index, std::vector<Tensor> tensors) {
  if (tensors.size() != inputs.size())
    return inside(options.nameOf(index),
                  usageError("expected " + std::to_string(inputs.size()) +
                             " inputs, given " +
                             std::to_string(tensors.size())));
  if (!belongs(tensors))
    if (Result<void> ran = flush(); !ran)
      return ran;
  pending.push_back({index, std::move(tensors)});
  return std::ssize(pending) < most ? Result<void>() : flush();
}

} // namespace sinter
