#include "data/BatchRuns.h"

#include "data/SampleFiles.h"
#include "data/SampleQueue.h"
#include "runtime/CpuCount.h"

#include <algorithm>

namespace sinter {

namespace {

class BatchRunner {
public:
  BatchRunner(Session &session, const Samples &samples,
              const BatchRunOptions &options, const TakeOutputs &take)
      : session(session), samples(samples), options(options), take(take),
        inputs(inputsOfShapes(session.model(), options.shapes)),
        batch(batchOf(inputs, samples.inputs)) {}

  Result<BatchRunReport> run();

private:
  Result<void> chooseSize();
  bool mayFill() const;
  bool belongs(const std::vector<Tensor> &sample) const;
  Result<bool> isLeftOut(const LoadedSample &sample);
  bool isWhole() const;
  Result<void> flush();
  Result<std::vector<Tensor>> batchTensors() const;
  Result<void> makeReady(const std::vector<Tensor> &tensors);
  Result<void> deliver(std::vector<Tensor> outputs, int64_t rows);

  Session &session;
  const Samples &samples;
  const BatchRunOptions &options;
  const TakeOutputs &take;
  const std::vector<ModelInput> inputs;
  const BatchDimension batch;
  /// Samples at a time, and whether the model takes exactly so many.
  int64_t size = 1;
  bool isStatic = false;
  /// Of the next batch.
  std::vector<LoadedSample> pending;
  /// What the session is ready for.
  std::vector<Tensor> readyFor;
  std::shared_ptr<Executor> executor;
  BatchRunReport report;
};

} // namespace

/// Whether several samples may become one batch if the sizes are dynamic: what
/// is the same for all samples has no batch, and every output has one.
bool BatchRunner::mayFill() const {
  const BatchDimension all = [&] {
    std::vector<size_t> every = samples.inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (std::ranges::find(every, i) == every.end())
        every.push_back(i);
    return batchOf(inputs, every);
  }();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool varies =
        std::ranges::find(samples.inputs, i) != samples.inputs.end();
    if (all.has(i) != varies)
      return false;
  }
  const auto hasBatch = [](const ModelOutput &output) {
    return output.ranked && !output.shape.empty() && output.shape[0] < 0;
  };
  return session.model().states.empty() &&
         std::ranges::all_of(session.model().outputs, hasBatch);
}

Result<void> BatchRunner::chooseSize() {
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
    size = batch.size;
    if (options.batch != 0 && options.batch != size)
      return usageError(given + ": the model takes a batch of " +
                        std::to_string(size));
    if (size == 0)
      return usageError("the model takes a batch of 0 samples");
  } else {
    size = options.batch != 0 ? options.batch : mayFill() ? usual : 1;
  }
  if (size == 1)
    return {};
  if (!session.model().states.empty())
    return usageError(options.batchName +
                      ": a model with states takes one sample after the "
                      "other, not " +
                      std::to_string(size) + " at a time");
  for (const size_t input : samples.inputs)
    if (!batch.has(input))
      return usageError("input '" + inputs[input].spec.name + "', " +
                        inputs[input].text() +
                        ", differs from sample to sample and has no batch "
                        "dimension, so " +
                        std::to_string(size) + " cannot be run at a time" +
                        (isStatic ? "" : "; give " + options.batchName + " 1"));
  return {};
}

/// Whether \p sample can be in one batch with those that wait.
bool BatchRunner::belongs(const std::vector<Tensor> &sample) const {
  if (pending.empty())
    return true;
  const std::vector<Tensor> &first = *pending.front().tensors;
  for (const size_t input : samples.inputs)
    if (sample[input].shape() != first[input].shape() ||
        sample[input].rank() == 0 || sample[input].dim(0) != 1)
      return false;
  return std::ssize(pending) < size;
}

/// Whether \p sample cannot be read and is left out.
Result<bool> BatchRunner::isLeftOut(const LoadedSample &sample) {
  if (sample.tensors)
    return false;
  const Error &why = sample.tensors.error();
  if (why.kind != ErrorKind::System)
    return why;
  if (options.mostUnreadable == 0)
    return withHint(options.unreadableName + " N skips such samples", why);
  if (++report.unreadable > options.mostUnreadable)
    return systemError("more than " + std::to_string(options.mostUnreadable) +
                       " samples cannot be read (" + options.unreadableName +
                       " N); the last: " + why.message());
  if (options.note)
    options.note("left out: " + why.message());
  return true;
}

/// Whether the one that waits is run as it is: alone, and a whole batch.
bool BatchRunner::isWhole() const {
  if (pending.size() != 1)
    return false;
  const auto hasRows = [&](size_t input) {
    const Tensor &tensor = (*pending.front().tensors)[input];
    return tensor.rank() == 0 || tensor.dim(0) != 1;
  };
  return !isStatic || size == 1 || std::ranges::any_of(samples.inputs, hasRows);
}

/// The inputs of a run on those that wait.
Result<std::vector<Tensor>> BatchRunner::batchTensors() const {
  std::vector<Tensor> tensors = *pending.front().tensors;
  if (isWhole())
    return tensors;
  for (const size_t input : samples.inputs) {
    std::vector<Tensor> rows;
    for (const LoadedSample &sample : pending)
      rows.push_back((*sample.tensors)[input]);
    Result<Tensor> all = stackedRows(rows, isStatic ? size : 0);
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
Result<void> BatchRunner::makeReady(const std::vector<Tensor> &tensors) {
  if (executor && servesToo(readyFor, tensors))
    return {};
  Result<std::shared_ptr<Executor>> made = session.executorFor(tensors);
  if (!made)
    return made.takeError();
  const bool isFirst = !executor;
  executor = std::move(*made);
  readyFor = tensors;
  if (isFirst && options.prepare)
    return options.prepare(*executor);
  return {};
}

/// Gives each of those that wait its rows of \p outputs.
Result<void> BatchRunner::deliver(std::vector<Tensor> outputs, int64_t rows) {
  if (rows == 1)
    return take(pending.front().index, std::move(outputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].rank() == 0 || outputs[i].dim(0) != rows)
      return usageError(
          "output '" + executor->outputs()[i].name + "', " +
          toString(outputs[i].type(), outputs[i].shape()) +
          ", has no row for each of the " + std::to_string(rows) +
          " samples of a batch" +
          (isStatic ? "" : "; " + options.batchName + " 1 runs one by one"));
  for (size_t i = 0; i < pending.size(); ++i) {
    std::vector<Tensor> own;
    for (const Tensor &output : outputs)
      own.push_back(rowOfBatch(output, static_cast<int64_t>(i)));
    if (Result<void> taken = take(pending[i].index, std::move(own)); !taken)
      return taken;
  }
  return {};
}

/// Runs the model on those that wait.
Result<void> BatchRunner::flush() {
  if (pending.empty())
    return {};
  Result<std::vector<Tensor>> tensors = batchTensors();
  if (!tensors)
    return tensors.takeError();
  if (Result<void> ready = makeReady(*tensors); !ready)
    return ready;
  const Stopwatch watch;
  Result<std::vector<Tensor>> outputs = executor->run(*tensors);
  report.runMs += watch.milliseconds();
  if (!outputs)
    return inside("sample '" + samples.names[pending.front().index] + "'",
                  outputs.takeError());
  const auto count = std::ssize(pending);
  const int64_t rows = isWhole() ? 1 : isStatic ? size : count;
  if (Result<void> done = deliver(std::move(*outputs), rows); !done)
    return done;
  report.done += pending.size();
  report.batch = std::max<int64_t>(report.batch, rows);
  pending.clear();
  return {};
}

Result<BatchRunReport> BatchRunner::run() {
  const Stopwatch watch;
  if (Result<void> chosen = chooseSize(); !chosen)
    return chosen.takeError();
  const size_t end = std::min(options.end, samples.count);
  const size_t total = end - std::min(options.first, end);
  const unsigned threads = usableCpuCount();
  SampleQueue queue(samples.load, options.first, end, threads,
                    2 * (threads + static_cast<size_t>(size)));
  while (std::optional<LoadedSample> sample = queue.next()) {
    Result<bool> isSkipped = isLeftOut(*sample);
    if (!isSkipped)
      return isSkipped.takeError();
    if (*isSkipped)
      continue;
    if (!belongs(*sample->tensors))
      if (Result<void> done = flush(); !done)
        return done.takeError();
    pending.push_back(std::move(*sample));
    if (std::ssize(pending) < size)
      continue;
    if (Result<void> done = flush(); !done)
      return done.takeError();
    if (options.progress)
      options.progress(report.done + report.unreadable, total);
  }
  if (Result<void> done = flush(); !done)
    return done.takeError();
  if (options.progress)
    options.progress(total, total);
  report.wallMs = watch.milliseconds();
  return report;
}

Result<BatchRunReport> runBatches(Session &session, const Samples &samples,
                                  const BatchRunOptions &options,
                                  const TakeOutputs &take) {
  return BatchRunner(session, samples, options, take).run();
}

} // namespace sinter
