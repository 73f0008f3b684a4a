#include "driver/RunStream.h"

#include "data/SampleFiles.h"
#include "data/SampleRows.h"
#include "data/TensorFiles.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/Trace.h"
#include "engine/ExecutorStates.h"
#include "runtime/MachineMemory.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Wav.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace sinter::driver {

void addSteps(CLI::App &app, StepOptions &options) {
  options.windows.names = {"--frame", "--hop", "--time-axis"};
  app.add_option("--feed", options.feeds,
                 "an output that becomes an input of the next step, as in "
                 "stateN=state; its first value is zeros, or what --input "
                 "gives; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OUTPUT=INPUT")
      ->group("Stream");
  CLI::Option *frames =
      app.add_option(
             "--frames", options.frames,
             "an array (.npy) or audio (WAV) of which each step takes a "
             "window along time, for the first input that is not "
             "given")
          ->type_name("[INPUT=]FILE")
          ->group("Stream");
  app.add_option("--hop", options.windows.hop,
                 "from one window to the next (default: a window's length)")
      ->check(CLI::PositiveNumber)
      ->needs(frames)
      ->type_name("N")
      ->group("Stream");
  app.add_option("--frame", options.windows.frame,
                 "the length of a window (default: the input's)")
      ->check(CLI::PositiveNumber)
      ->needs(frames)
      ->type_name("N")
      ->group("Stream");
  app.add_option("--time-axis", options.windows.axis,
                 "the dimension of time in the array (default: -1, the last)")
      ->check(CLI::Range(-64, 63))
      ->needs(frames)
      ->type_name("N")
      ->group("Stream");
}

namespace {

class StreamRun {
public:
  StreamRun(Session &session, const CommonOptions &common,
            const StreamRunOptions &options)
      : session(session), common(common), options(options) {}

  Result<int> run(InputOptions inputs, const NamedShapes &shapes);

private:
  struct Feed {
    size_t output, input;
  };

  Result<void> parseFeeds();
  Result<void> openFrames(InputOptions &inputs, const NamedShapes &shapes);
  Result<Tensor> readArray(const std::string &path, const TensorSpec &spec,
                           InputOptions &inputs);
  Result<void> checkFeeds() const;
  Result<void> steps();
  Result<void> makeRoom(const std::vector<Tensor> &results);
  Result<void> keep(size_t step, std::vector<Tensor> &results);
  bool isFed(size_t output) const;
  void showProgress(size_t step);
  Result<void> report();
  void printSteps() const;

  Session &session;
  const CommonOptions &common;
  const StreamRunOptions &options;
  std::vector<Feed> feeds;
  std::optional<Frames> frames;
  size_t framed = 0, count = 1;
  /// Of audio, samples per second; else 0.
  int64_t rate = 0;
  std::shared_ptr<Executor> executor;
  std::vector<Tensor> tensors;
  /// What all steps gave, by output; of those that are fed, the last value.
  std::vector<Tensor> all;
  double runMs = 0;
  std::optional<Activity> activity;
};

} // namespace

bool StreamRun::isFed(size_t output) const {
  return std::ranges::find(feeds, output, &Feed::output) != feeds.end();
}

/// Names may contain an equals sign: the first one with an output before it and
/// an input behind.
Result<void> StreamRun::parseFeeds() {
  const ModelDescription &model = session.model();
  std::vector<std::string> outputs;
  for (const ModelOutput &output : model.outputs)
    outputs.push_back(output.name);
  for (const std::string &text : options.stream.feeds) {
    std::optional<Feed> feed;
    for (size_t sign = text.find('='); sign != std::string::npos && !feed;
         sign = text.find('=', sign + 1)) {
      const auto output = std::ranges::find(outputs, text.substr(0, sign));
      const auto input = model.inputNamed(text.substr(sign + 1));
      if (output != outputs.end() && input)
        feed = Feed{static_cast<size_t>(output - outputs.begin()), *input};
    }
    if (!feed)
      return usageError("--feed '" + text +
                        "': expected OUTPUT=INPUT; the outputs are " +
                        quotedList(outputs) + ", the inputs " +
                        quotedList(model.inputNames()));
    if (std::ranges::find(feeds, feed->input, &Feed::input) != feeds.end())
      return usageError("--feed: input '" +
                        model.inputs[feed->input].spec.name +
                        "' is given twice");
    feeds.push_back(*feed);
  }
  return {};
}

/// The array in the file \p path; audio as [channels, samples], with one
/// channel, their mean, unless \p spec has a static number of them, at the rate
/// of \p inputs, which is used up.
Result<Tensor> StreamRun::readArray(const std::string &path,
                                    const TensorSpec &spec,
                                    InputOptions &inputs) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if (!isWav((*file)->bytes()))
    return readTensor(path, spec.type);
  Result<Audio> audio = decodeWav((*file)->bytes(), path);
  if (!audio)
    return audio.takeError();
  Result<Preprocessing> known = preprocessingFor(session.model(), inputs);
  if (!known)
    return known.takeError();
  inputs.preprocessing.rate.reset();
  const size_t rank = spec.shape.size();
  const bool hasChannels = rank >= 2 && spec.shape[rank - 2] > 1;
  audio = hasChannels ? std::move(*audio) : toMono(std::move(*audio));
  if (known->rate)
    audio = resampled(std::move(*audio), *known->rate);
  if (!audio)
    return audio.takeError();
  rate = audio->rate;
  return std::move(audio->samples);
}

/// Reads the array for windows and finds its input.
Result<void> StreamRun::openFrames(InputOptions &inputs,
                                   const NamedShapes &shapes) {
  const ModelDescription &model = session.model();
  if (options.stream.frames.empty()) {
    count = options.steps;
    return {};
  }
  std::set<size_t> taken;
  for (const Feed &feed : feeds)
    taken.insert(feed.input);
  for (const std::string &argument : inputs.inputs)
    if (const std::optional<NamedInput> named = namedInput(model, argument))
      taken.insert(named->index);
  std::string path = options.stream.frames;
  if (std::optional<NamedInput> named = namedInput(model, path)) {
    framed = named->index;
    path = named->source;
  } else {
    while (framed < model.inputs.size() && taken.contains(framed))
      ++framed;
  }
  if (framed >= model.inputs.size() || taken.contains(framed))
    return usageError("--frames " + options.stream.frames +
                      (framed < model.inputs.size()
                           ? ": its input is given already"
                           : ": every input is given already"));
  const ModelInput input = inputsOfShapes(model, shapes)[framed];
  Result<Tensor> array = readArray(path, input.spec, inputs);
  if (!array)
    return inside("--frames", array.takeError());
  Result<Frames> made =
      Frames::of(std::move(*array), input, options.stream.windows);
  if (!made)
    return inside("--frames " + path, made.takeError());
  frames = std::move(*made);
  count = frames->count();
  if (frames->left() > 0)
    printNote("--frames: " + std::to_string(frames->left()) +
              " elements at the end fill no window and are left out");
  return {};
}

/// Whether what is fed fits where it goes, as far as that is known.
Result<void> StreamRun::checkFeeds() const {
  for (const Feed &feed : feeds) {
    const TensorSpec &from = executor->outputs()[feed.output];
    const TensorSpec &to = executor->inputs()[feed.input];
    bool fits = from.type == to.type;
    const bool isKnown = session.model().outputs[feed.output].ranked;
    if (fits && isKnown) {
      fits = from.shape.size() == to.shape.size();
      for (size_t i = 0; fits && i < from.shape.size(); ++i)
        fits = from.shape[i] < 0 || to.shape[i] < 0 ||
               from.shape[i] == to.shape[i];
    }
    if (!fits)
      return usageError("--feed " + from.name + "=" + to.name +
                        ": the output is a " + toString(from.type, from.shape) +
                        ", and the input a " + toString(to.type, to.shape));
  }
  return {};
}

/// Memory for what all steps give, after the first.
Result<void> StreamRun::makeRoom(const std::vector<Tensor> &results) {
  uint64_t left = memoryOfMachine();
  for (size_t i = 0; i < results.size(); ++i) {
    if (isFed(i)) {
      all.emplace_back();
      continue;
    }
    Shape shape = results[i].shape();
    shape.insert(shape.begin(), static_cast<int64_t>(count));
    const std::optional<int64_t> bytes = byteCount(results[i].type(), shape);
    if (!bytes || static_cast<uint64_t>(*bytes) > left)
      return systemError("what " + std::to_string(count) +
                         " steps give takes more memory than this machine "
                         "has: output '" +
                         executor->outputs()[i].name + "', " +
                         toString(results[i].type(), shape));
    left -= static_cast<uint64_t>(*bytes);
    Result<Tensor> room = Tensor::allocate(results[i].type(), shape);
    if (!room)
      return room.takeError();
    all.push_back(std::move(*room));
  }
  return {};
}

/// Takes what step \p step gave.
Result<void> StreamRun::keep(size_t step, std::vector<Tensor> &results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (isFed(i))
      continue;
    const Shape &shape = all[i].shape();
    if (!std::ranges::equal(std::span(shape).subspan(1), results[i].shape()))
      return usageError("output '" + executor->outputs()[i].name +
                        "' has another shape in step " + std::to_string(step) +
                        ", " + toString(results[i].type(), results[i].shape()) +
                        ", so that what all steps give is no one array");
    if (results[i].bytes() != 0)
      std::memcpy(all[i].mutableBytes() + step * results[i].bytes(),
                  results[i].data(), results[i].bytes());
  }
  for (const Feed &feed : feeds) {
    all[feed.output] = results[feed.output];
    tensors[feed.input] = results[feed.output];
  }
  return {};
}

void StreamRun::showProgress(size_t step) {
  // A look at the clock takes as long as a small step.
  constexpr size_t often = 64;
  if (step % often == 0)
    activity->update(step, count, "steps");
}

Result<void> StreamRun::steps() {
  activity.emplace("running " + common.model);
  const Stopwatch watch;
  for (size_t step = 0; step < count; ++step) {
    if (frames)
      tensors[framed] = frames->at(step);
    Result<std::vector<Tensor>> results = executor->run(tensors);
    if (!results)
      return inside("step " + std::to_string(step), results.takeError());
    if (step == 0)
      if (Result<void> made = makeRoom(*results); !made)
        return made;
    if (Result<void> kept = keep(step, *results); !kept)
      return kept;
    showProgress(step);
  }
  runMs = watch.milliseconds();
  activity.reset();
  return {};
}

/// A line of JSON for each step.
void StreamRun::printSteps() const {
  const std::span<const TensorSpec> specs = executor->outputs();
  for (size_t step = 0; step < count; ++step) {
    std::vector<Tensor> own;
    std::vector<TensorSpec> ownSpecs;
    for (size_t i = 0; i < all.size(); ++i) {
      if (isFed(i))
        continue;
      Tensor row = rowOfBatch(all[i], static_cast<int64_t>(step));
      Shape shape(row.shape().begin() + 1, row.shape().end());
      own.push_back(row.reshaped(std::move(shape)));
      ownSpecs.push_back(specs[i]);
    }
    nlohmann::json line = {
        {"step", step}, {"outputs", outputsJson(ownSpecs, own, options.shown)}};
    if (rate > 0)
      line["seconds"] = static_cast<double>(step) *
                        static_cast<double>(frames->step()) /
                        static_cast<double>(rate);
    printJsonLine(line);
  }
}

Result<void> StreamRun::report() {
  if (Result<void> fit = checkShown(executor->outputs(), all, options.shown,
                                    options.labelFile);
      !fit)
    return fit;
  const std::vector<Tensor> states = statesOf(*executor);
  std::set<std::string> used;
  stateFileNames(*executor, used);
  if (!options.outputFolder.empty()) {
    for (size_t i = 0; i < all.size(); ++i)
      if (Result<void> written =
              writeNpy(options.outputFolder + "/" +
                           fileName(executor->outputs()[i].name, used) + ".npy",
                       all[i]);
          !written)
        return written;
    if (Result<void> written =
            writeStates(*executor, states, options.outputFolder);
        !written)
      return written;
  }
  if (Result<void> written =
          writeStates(*executor, states, options.states.folder);
      !written)
    return written;
  const std::string line =
      text("%zu step%s in %.3f ms, %.4f ms each", count, count == 1 ? "" : "s",
           runMs, runMs / static_cast<double>(count));
  if (common.json) {
    printSteps();
    printNote(line);
    return {};
  }
  printOutputs(executor->outputs(), all, options.shown);
  printTo(stdout, "%s\n", line.c_str());
  return {};
}

Result<int> StreamRun::run(InputOptions inputs, const NamedShapes &shapes) {
  if (Result<void> parsed = parseFeeds(); !parsed)
    return parsed.takeError();
  if (Result<void> opened = openFrames(inputs, shapes); !opened)
    return opened.takeError();
  for (const Feed &feed : feeds)
    inputs.zeros.push_back(session.model().inputs[feed.input].spec.name);
  if (frames)
    inputs.tensors.emplace_back(session.model().inputs[framed].spec.name,
                                frames->at(0));
  Result<std::vector<Tensor>> loaded =
      loadInputs(session, common.model, inputs, shapes, /*fillRandom=*/false);
  if (!loaded)
    return loaded.takeError();
  tensors = std::move(*loaded);
  Result<std::shared_ptr<Executor>> made = session.executorFor(tensors);
  if (!made)
    return made.takeError();
  executor = std::move(*made);
  if (Result<void> fit = checkFeeds(); !fit)
    return fit.takeError();
  if (Result<void> given = giveStates(*executor, options.states); !given)
    return given.takeError();
  executor->setProfiling(!common.traceFile.empty());
  if (Result<void> done = steps(); !done)
    return done.takeError();
  if (Result<void> written = writeTrace(common, *executor); !written)
    return written.takeError();
  if (Result<void> reported = report(); !reported)
    return reported.takeError();
  return 0;
}

Result<int> runStream(Session &session, const CommonOptions &common,
                      const InputOptions &inputs, const NamedShapes &shapes,
                      const StreamRunOptions &options) {
  Result<int> done = StreamRun(session, common, options).run(inputs, shapes);
  if (!done)
    return inFile(done.takeError(), common.model);
  return done;
}

} // namespace sinter::driver
