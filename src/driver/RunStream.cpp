#include "driver/RunStream.h"

#include "data/Feeds.h"
#include "data/FrameFiles.h"
#include "data/InputSources.h"
#include "data/SampleFiles.h"
#include "data/StepArrays.h"
#include "data/TensorFiles.h"
#include "driver/ProcessShare.h"
#include "driver/Progress.h"
#include "driver/RunSamples.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/Trace.h"
#include "engine/ExecutorStates.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/TensorNames.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace sinter::driver {

namespace {

/// What a stream takes and has shown so far.
struct OneStream {
  size_t index = 0;
  std::unique_ptr<FrameSource> frames;
  std::vector<Tensor> tensors;
  std::optional<StepArrays> arrays;
  PostInput image;
};

class StreamRun {
public:
  StreamRun(Session &session, const CommonOptions &common,
            const StreamRunOptions &options)
      : session(session), common(common), options(options) {}

  Result<int> run(InputOptions inputs, const NamedShapes &shapes);

private:
  Result<void> findFeeds();
  void beginFed(InputOptions &inputs) const;
  Result<void> findStreams(InputOptions &inputs, const NamedShapes &shapes);
  Result<void> findFrames(const InputOptions &inputs);
  Result<void> findSamples(const InputOptions &inputs,
                           const NamedShapes &shapes);
  Result<void> checkMany() const;
  Result<void> runOne(size_t index, const InputOptions &inputs,
                      const NamedShapes &shapes);
  Result<void> load(OneStream &stream, const InputOptions &inputs,
                    const NamedShapes &shapes);
  Result<void> loadWindow(OneStream &stream, const InputOptions &inputs,
                          const NamedShapes &shapes);
  Result<void> start(OneStream &stream);
  Result<void> steps(OneStream &stream);
  Result<bool> nextWindow(OneStream &stream, size_t step);
  Result<void> take(OneStream &stream, size_t step,
                    std::vector<Tensor> results);
  Result<std::vector<PostResult>> postProcess(const OneStream &stream,
                                              size_t step,
                                              std::vector<Tensor> &results);
  void print(const OneStream &stream, size_t step,
             const std::vector<TensorSpec> &specs,
             const std::vector<Tensor> &tensors,
             const std::vector<PostResult> &found) const;
  Result<void> finish(const OneStream &stream);
  Result<void> write(const OneStream &stream,
                     const std::vector<Tensor> &arrays) const;
  void nameStreams();
  void nameFiles();
  void printTotal() const;
  std::string stepStem(const OneStream &stream, size_t step) const;
  const std::string &nameOf(size_t index) const {
    return samples ? samples->names[index] : files.names[index];
  }
  const std::string &nameOf(const Feed &feed) const {
    return session.model().inputs[feed.input].spec.name;
  }
  bool isLive(const OneStream &stream) const {
    return stream.frames && !stream.frames->count();
  }
  bool isFed(size_t output) const {
    return std::ranges::find(feeds, output, &Feed::output) != feeds.end();
  }
  /// Whether each step is printed when it is done.
  bool printsSteps(const OneStream &stream) const {
    return isLive(stream) || common.json || !options.post.steps.empty();
  }

  Session &session;
  const CommonOptions &common;
  const StreamRunOptions &options;
  std::vector<Feed> feeds;
  /// By feed, in the folder of states.
  std::vector<std::string> fedFiles;
  /// Windows come from files, or each sample is a stream, or there is one.
  FrameFiles files;
  size_t framed = 0;
  PipeOptions pipe;
  std::optional<Samples> samples;
  size_t count = 1;
  bool areMany = false;
  std::shared_ptr<Executor> executor;
  /// By stream, and by stream and output, of many streams.
  std::vector<std::string> stems, outputFiles;
  size_t streamsDone = 0, stepsDone = 0;
  double runMs = 0, printMs = 0;
  std::optional<Activity> activity;
};

} // namespace

/// Finds the files for windows and the input that they are for.
Result<void> StreamRun::findFrames(const InputOptions &inputs) {
  const ModelDescription &model = session.model();
  std::set<size_t> taken = namedInputs(model, inputs.inputs);
  for (const Feed &feed : feeds)
    taken.insert(feed.input);
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
  Result<FrameFiles> found = frameFiles("--frames", path);
  if (!found)
    return found.takeError();
  files = std::move(*found);
  count = files.paths.size();
  areMany = files.areMany;
  if (!options.stream.raw.empty()) {
    pipe.raw = parseElementType(options.stream.raw);
    if (!pipe.raw)
      return usageError("--raw " + options.stream.raw +
                        ": there is no such type; i16, ui8 and f32 are some");
  }
  pipe.windows = options.stream.windows;
  pipe.rawName = "--raw";
  Result<Preprocessing> known = preprocessingFor(model, inputs);
  if (!known)
    return known.takeError();
  pipe.rate = known->rate;
  return {};
}

/// Finds the samples that are a stream each, if there are many.
Result<void> StreamRun::findSamples(const InputOptions &inputs,
                                    const NamedShapes &shapes) {
  Result<InputSources> sources = inputSources(
      session.model(), inputsOfShapes(session.model(), shapes), inputs.inputs,
      /*splitsBatches=*/false, inputs.zeros);
  if (!sources)
    return sources.takeError();
  if (sources->samples.empty())
    return {};
  if (Result<void> good = checkShared("--input", sources->samples); !good)
    return good;
  SampleOptions found;
  found.names.sources = inputs.names.inputs;
  found.sources = sources->samples;
  found.pictures = inputs;
  found.pictures.inputs = sources->fixed;
  Result<Samples> all =
      sinter::findSamples(session, common.model, found, shapes);
  if (!all)
    return all.takeError();
  samples = std::move(*all);
  count = samples->count;
  areMany = true;
  return {};
}

/// Those of the options, and for other inputs those that the model keeps.
Result<void> StreamRun::findFeeds() {
  Result<std::vector<Feed>> given =
      parseFeeds(options.stream.feeds, session.model(), "--feed");
  if (!given)
    return given.takeError();
  const std::vector<std::string> pairs = keptFeeds(session.model());
  Result<std::vector<Feed>> kept = parseFeeds(pairs, session.model(), feedsKey);
  if (!kept)
    return kept.takeError();
  feeds = std::move(*given);
  for (size_t i = 0; i < kept->size(); ++i) {
    const Feed &feed = (*kept)[i];
    if (std::ranges::find(feeds, feed.input, &Feed::input) != feeds.end())
      continue;
    feeds.push_back(feed);
    printNote("state that the model keeps: " + pairs[i]);
  }
  fedFiles = feedFileNames(feeds, session.model());
  return {};
}

/// What is fed begins as zeros, or as an earlier command left it.
void StreamRun::beginFed(InputOptions &inputs) const {
  const std::set<size_t> given = namedInputs(session.model(), inputs.inputs);
  for (size_t i = 0; i < feeds.size(); ++i) {
    inputs.zeros.push_back(nameOf(feeds[i]));
    const std::string path = options.states.folder + "/" + fedFiles[i];
    std::error_code ignored;
    if (!options.states.folder.empty() && !given.contains(feeds[i].input) &&
        std::filesystem::exists(path, ignored))
      inputs.inputs.push_back(nameOf(feeds[i]) + "=" + path);
  }
}

Result<void> StreamRun::findStreams(InputOptions &inputs,
                                    const NamedShapes &shapes) {
  if (Result<void> found = findFeeds(); !found)
    return found;
  beginFed(inputs);
  Result<void> found = options.stream.frames.empty()
                           ? findSamples(inputs, shapes)
                           : findFrames(inputs);
  if (!found)
    return found;
  nameStreams();
  // The rate is that of the windows.
  if (!options.stream.frames.empty())
    inputs.preprocessing.rate.reset();
  return checkMany();
}

/// What is of one stream alone.
Result<void> StreamRun::checkMany() const {
  if (areMany && !common.traceFile.empty())
    return usageError("--trace is for one stream, and there are many");
  if (areMany && !options.states.folder.empty())
    return usageError("--state-dir is for one stream: each of many begins with "
                      "the states' first values");
  if (Result<void> good = checkShared("--frames", files.paths); !good)
    return good;
  if (!options.post.drawFolder.empty() && !files.paths.empty())
    return usageError("--draw: boxes are drawn into image files, of which "
                      "--frames has none");
  return {};
}

/// "sound": a name for what each stream writes.
void StreamRun::nameStreams() {
  std::set<std::string> used;
  if (samples)
    stems = sampleStems(*samples, used);
  for (size_t i = 0; i < files.names.size() && areMany; ++i)
    stems.push_back(fileName(
        std::filesystem::path(files.names[i]).replace_extension().string(),
        used));
}

/// The name of what step \p step writes.
std::string StreamRun::stepStem(const OneStream &stream, size_t step) const {
  return (areMany ? stems[stream.index] + "_" : "") + text("step%06zu", step);
}

/// Gives each output of each of many streams a file name; the same in all
/// processes.
void StreamRun::nameFiles() {
  if (!areMany || options.outputFolder.empty() || !outputFiles.empty())
    return;
  std::set<std::string> used;
  for (size_t i = 0; i < count; ++i)
    for (const TensorSpec &output : executor->outputs())
      outputFiles.push_back(fileName(stems[i] + "_" + output.name, used) +
                            ".npy");
}

/// Opens the windows of \p stream, and loads its other inputs.
Result<void> StreamRun::loadWindow(OneStream &stream,
                                   const InputOptions &inputs,
                                   const NamedShapes &shapes) {
  const ModelInput input = inputsOfShapes(session.model(), shapes)[framed];
  auto opened = openFrames(files.paths[stream.index], input, pipe);
  if (!opened)
    return inside("--frames", opened.takeError());
  stream.frames = std::move(*opened);
  Result<std::optional<Tensor>> first = stream.frames->next();
  if (!first)
    return inside("--frames", first.takeError());
  if (!*first)
    return usageError("--frames " + files.names[stream.index] +
                      ": it ends before a whole window, with " +
                      std::to_string(stream.frames->left()) + " elements");
  InputOptions own = inputs;
  own.tensors.emplace_back(input.spec.name, std::move(**first));
  Result<std::vector<Tensor>> loaded =
      loadInputs(session, common.model, own, shapes, /*fillRandom=*/false);
  if (!loaded)
    return loaded.takeError();
  stream.tensors = std::move(*loaded);
  return {};
}

/// Loads the inputs of the first step.
Result<void> StreamRun::load(OneStream &stream, const InputOptions &inputs,
                             const NamedShapes &shapes) {
  if (!files.paths.empty())
    return loadWindow(stream, inputs, shapes);
  Result<std::vector<Tensor>> loaded =
      samples ? samples->load(stream.index)
              : loadInputs(session, common.model, inputs, shapes,
                           /*fillRandom=*/false);
  if (!loaded)
    return loaded.takeError();
  stream.tensors = std::move(*loaded);
  return {};
}

/// Makes the executor ready, with the first values of the states.
Result<void> StreamRun::start(OneStream &stream) {
  Result<std::shared_ptr<Executor>> made = session.executorFor(stream.tensors);
  if (!made)
    return made.takeError();
  executor = std::move(*made);
  nameFiles();
  if (Result<void> fit =
          checkFeeds(feeds, session.model(), *executor, "--feed");
      !fit)
    return fit;
  if (areMany)
    executor->resetStates();
  StateOptions states = options.states;
  // What is fed has been loaded.
  if (executor->states().empty() && !feeds.empty())
    states.folder.clear();
  if (Result<void> given = giveStates(*executor, states); !given)
    return given;
  executor->setProfiling(!common.traceFile.empty());
  std::vector<Shape> shapes;
  for (const Tensor &each : stream.tensors)
    shapes.push_back(each.shape());
  stream.image = imageAmong(shapes, options.post.how.layout);
  std::vector<bool> areLast;
  for (size_t i = 0; i < executor->outputs().size(); ++i)
    areLast.push_back(isFed(i));
  if (!printsSteps(stream) || !options.outputFolder.empty())
    stream.arrays.emplace(executor->outputs(), std::move(areLast),
                          stream.frames ? stream.frames->count()
                                        : std::optional<size_t>(options.steps));
  return {};
}

/// What the steps find; \p results become those after them. Class maps and
/// boxes are drawn.
Result<std::vector<PostResult>>
StreamRun::postProcess(const OneStream &stream, size_t step,
                       std::vector<Tensor> &results) {
  const RunPost &post = options.post;
  if (post.steps.empty())
    return std::vector<PostResult>();
  const std::string image = samples ? samples->paths[stream.index] : "";
  auto found = applyPost(post.steps, executor->outputs(), results,
                         {stream.image, post.how, image});
  if (!found)
    return found;
  const std::string stem = stepStem(stream, step);
  if (!post.drawFolder.empty())
    if (Result<void> drawn = drawBoxes(*found, image, post.drawFolder, stem);
        !drawn)
      return drawn.takeError();
  if (!options.outputFolder.empty())
    if (Result<void> written = writeMaps(*found, options.outputFolder, stem);
        !written)
      return written.takeError();
  return found;
}

/// Prints what a step gave.
void StreamRun::print(const OneStream &stream, size_t step,
                      const std::vector<TensorSpec> &specs,
                      const std::vector<Tensor> &tensors,
                      const std::vector<PostResult> &found) const {
  const int64_t rate = stream.frames ? stream.frames->rate() : 0;
  const double seconds = rate > 0
                             ? static_cast<double>(step) *
                                   static_cast<double>(stream.frames->step()) /
                                   static_cast<double>(rate)
                             : 0;
  if (common.json) {
    nlohmann::json line = {
        {"step", step},
        {"outputs", outputsJson(specs, tensors, options.shown)}};
    if (areMany)
      line["sample"] = nameOf(stream.index);
    if (rate > 0)
      line["seconds"] = seconds;
    if (!options.post.steps.empty())
      line["post"] = foundJson(found, options.shown.labels);
    printJsonLine(line);
  } else {
    printTo(stdout, "step %zu%s\n", step,
            rate > 0 ? text(" (%.3f s)", seconds).c_str() : "");
    if (found.empty() || common.verbose)
      printOutputs(specs, tensors, options.shown, "  ");
    printFound(found, options.shown.labels, "  ");
  }
  std::fflush(stdout);
}

/// Takes what step \p step gave.
Result<void> StreamRun::take(OneStream &stream, size_t step,
                             std::vector<Tensor> results) {
  for (const Feed &feed : feeds)
    stream.tensors[feed.input] = results[feed.output];
  if (step == 0 && options.post.steps.empty())
    if (Result<void> fit = checkShown(executor->outputs(), results,
                                      options.shown, options.labelFile);
        !fit)
      return fit;
  auto found = postProcess(stream, step, results);
  if (!found)
    return inside("step " + std::to_string(step), found.takeError());
  if (stream.arrays)
    if (Result<void> kept = stream.arrays->add(results); !kept)
      return kept;
  if (!printsSteps(stream))
    return {};
  const Stopwatch watch;
  std::vector<TensorSpec> specs;
  std::vector<Tensor> own;
  for (size_t i = 0; i < results.size(); ++i)
    if (!isFed(i)) {
      specs.push_back(executor->outputs()[i]);
      own.push_back(std::move(results[i]));
    }
  if (step == 0 && areMany && !common.json)
    printTo(stdout, "%s\n", oneLine(nameOf(stream.index)).c_str());
  print(stream, step, specs, own, *found);
  printMs += watch.milliseconds();
  return {};
}

/// Gets the input of step \p step; false at the end.
Result<bool> StreamRun::nextWindow(OneStream &stream, size_t step) {
  if (!stream.frames)
    return step < options.steps;
  if (step == 0)
    return true;
  // Waiting for a pipe is no time of a step. To look at the clock takes a part
  // of a small one.
  std::optional<Stopwatch> waiting;
  if (isLive(stream))
    waiting.emplace();
  Result<std::optional<Tensor>> window = stream.frames->next();
  if (!window)
    return inside("--frames", window.takeError());
  if (waiting)
    printMs += waiting->milliseconds();
  if (!*window)
    return false;
  stream.tensors[framed] = std::move(**window);
  return true;
}

Result<void> StreamRun::steps(OneStream &stream) {
  // A look at the clock takes as long as a small step.
  constexpr size_t often = 64;
  const Stopwatch watch;
  printMs = 0;
  const size_t total =
      stream.frames ? stream.frames->count().value_or(0) : options.steps;
  size_t step = 0;
  for (;; ++step) {
    Result<bool> goesOn = nextWindow(stream, step);
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      break;
    Result<std::vector<Tensor>> results = executor->run(stream.tensors);
    if (!results)
      return inside("step " + std::to_string(step), results.takeError());
    if (Result<void> taken = take(stream, step, std::move(*results)); !taken)
      return taken;
    if (step % often == 0 && !areMany)
      activity->update(step, total, "steps");
  }
  runMs += watch.milliseconds() - printMs;
  stepsDone += step;
  return {};
}

Result<void> StreamRun::write(const OneStream &stream,
                              const std::vector<Tensor> &arrays) const {
  const std::vector<Tensor> states = statesOf(*executor);
  std::set<std::string> used;
  stateFileNames(namesOf(executor->states()), used);
  for (size_t i = 0; i < arrays.size() && !options.outputFolder.empty(); ++i) {
    const std::string name =
        areMany ? outputFiles[stream.index * arrays.size() + i]
                : fileName(executor->outputs()[i].name, used) + ".npy";
    if (Result<void> written =
            writeNpy(options.outputFolder + "/" + name, arrays[i]);
        !written)
      return written;
  }
  if (areMany)
    return {};
  for (const std::string &folder :
       {options.outputFolder, options.states.folder})
    if (Result<void> written = writeStates(*executor, states, folder); !written)
      return written;
  for (size_t i = 0; i < feeds.size() && !options.states.folder.empty(); ++i)
    if (Result<void> written =
            writeNpy(options.states.folder + "/" + fedFiles[i],
                     stream.tensors[feeds[i].input]);
        !written)
      return written;
  return {};
}

/// Prints and writes what a stream gave.
Result<void> StreamRun::finish(const OneStream &stream) {
  const std::vector<Tensor> arrays =
      stream.arrays ? stream.arrays->arrays() : std::vector<Tensor>();
  if (Result<void> written = write(stream, arrays); !written)
    return written;
  if (stream.frames && stream.frames->left() > 0)
    printNote("--frames: " +
              (areMany ? files.names[stream.index] + ": " : std::string()) +
              std::to_string(stream.frames->left()) +
              " elements at the end fill no window and are left out");
  if (printsSteps(stream))
    return {};
  if (areMany)
    printTo(stdout, "%s\n", oneLine(nameOf(stream.index)).c_str());
  printOutputs(executor->outputs(), arrays, options.shown, areMany ? "  " : "");
  return {};
}

Result<void> StreamRun::runOne(size_t index, const InputOptions &inputs,
                               const NamedShapes &shapes) {
  OneStream stream;
  stream.index = index;
  if (Result<void> loaded = load(stream, inputs, shapes); !loaded)
    return loaded;
  if (Result<void> started = start(stream); !started)
    return started;
  if (Result<void> done = steps(stream); !done)
    return areMany ? inside(nameOf(index), done.takeError()) : done.takeError();
  if (!areMany) {
    activity.reset();
    if (Result<void> written = writeTrace(common, *executor); !written)
      return written;
  }
  return finish(stream);
}

void StreamRun::printTotal() const {
  const std::string streams =
      areMany ? text("%zu stream%s, ", streamsDone, streamsDone == 1 ? "" : "s")
              : "";
  const std::string line =
      text("%s%zu step%s in %.3f ms, %.4f ms each", streams.c_str(), stepsDone,
           stepsDone == 1 ? "" : "s", runMs,
           runMs / static_cast<double>(std::max<size_t>(stepsDone, 1)));
  if (common.json)
    printNote(line);
  else
    printTo(stdout, "%s\n", line.c_str());
}

Result<int> StreamRun::run(InputOptions inputs, const NamedShapes &shapes) {
  if (Result<void> found = findStreams(inputs, shapes); !found)
    return found.takeError();
  Result<ProcessShare> share = shareOf(count);
  if (!share)
    return share.takeError();
  if (share->first == share->end)
    return 0;
  activity.emplace("running " + common.model);
  for (size_t i = share->first; i < share->end; ++i) {
    if (Result<void> done = runOne(i, inputs, shapes); !done)
      return done.takeError();
    ++streamsDone;
    if (areMany)
      activity->update(streamsDone, share->end - share->first, "streams");
  }
  activity.reset();
  printTotal();
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
