#include "driver/RunSamples.h"

#include "data/BatchRuns.h"
#include "data/SampleFiles.h"
#include "data/TensorFiles.h"
#include "driver/ProcessShare.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/ExecutorStates.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace sinter::driver {

namespace {

class SampleRun {
public:
  SampleRun(Session &session, const CommonOptions &common,
            const SampleRunOptions &options, bool isPiped)
      : session(session), common(common), options(options), isPiped(isPiped) {}

  /// Runs on \p more samples.
  Result<void> runOn(Samples more, const NamedShapes &shapes);
  Result<void> finish();

private:
  Result<void> divide();
  Result<void> start(Executor &executor);
  Result<void> take(size_t index, std::vector<Tensor> outputs);
  Result<void> write(size_t index, const std::vector<Tensor> &outputs) const;
  Result<PostInput> imageInput(size_t index) const;
  Result<std::vector<PostResult>> postProcess(size_t index,
                                              std::vector<Tensor> &outputs);
  void nameFiles(std::span<const TensorSpec> outputs);
  void showProgress(size_t done, size_t total);

  Session &session;
  const CommonOptions &common;
  const SampleRunOptions &options;
  /// Whether samples are read from a pipe, a group at a time as they arrive.
  const bool isPiped;
  /// Those of a group, and how many there were in earlier ones.
  Samples samples;
  size_t before = 0;
  std::vector<std::string> stems;
  /// Of all that is written, lest two samples of a pipe get one file.
  std::set<std::string> usedStems, usedFiles;
  /// The samples of this process.
  ProcessShare share;
  std::vector<TensorSpec> outputSpecs;
  std::vector<Shape> inputShapes;
  /// By sample and output.
  std::vector<std::string> files;
  bool isStarted = false, isChecked = false;
  BatchRunReport all;
  std::optional<Activity> activity;
};

} // namespace

/// Finds the share of this process.
Result<void> SampleRun::divide() {
  if (isShared() && !session.model().states.empty())
    return usageError("the model has states, which go from one sample to the "
                      "next: it cannot run in several processes of mpirun");
  Result<ProcessShare> found = shareOf(samples.count);
  if (!found)
    return found.takeError();
  share = *found;
  return {};
}

static std::string stemOf(const Samples &samples, size_t index) {
  namespace fs = std::filesystem;
  const std::string &path = samples.paths[index];
  const std::string &name = samples.names[index];
  // Those of a folder are called by their paths in it.
  if (!name.starts_with(path))
    return fs::path(name).replace_extension().string();
  std::string stem = fs::path(path).filename().replace_extension().string();
  std::string row = name.substr(path.size());
  std::erase(row, ']');
  std::ranges::replace(row, '[', '_');
  return stem + row;
}

std::vector<std::string> sampleStems(const Samples &samples,
                                     std::set<std::string> &used) {
  std::vector<std::string> stems;
  for (size_t i = 0; i < samples.count; ++i)
    stems.push_back(fileName(stemOf(samples, i), used));
  return stems;
}

/// Gives each output of each sample a file name; the same in all processes.
void SampleRun::nameFiles(std::span<const TensorSpec> outputs) {
  files.clear();
  for (size_t i = 0; i < samples.count; ++i)
    for (const TensorSpec &output : outputs)
      files.push_back(fileName(stems[i] + "_" + output.name, usedFiles) +
                      ".npy");
}

/// Before the first run on a part.
Result<void> SampleRun::start(Executor &executor) {
  outputSpecs.assign(executor.outputs().begin(), executor.outputs().end());
  if (!options.outputFolder.empty())
    nameFiles(outputSpecs);
  if (std::exchange(isStarted, true))
    return {};
  for (const TensorSpec &input : executor.inputs())
    inputShapes.push_back(input.shape);
  if (!options.labelFile.empty() && options.post.steps.empty())
    if (Result<void> fit = checkLabels(outputSpecs, options.shown.labels,
                                       "--labels '" + options.labelFile + "'");
        !fit)
      return fit;
  return giveStates(executor, options.states);
}

Result<void> SampleRun::write(size_t index,
                              const std::vector<Tensor> &outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Result<void> written = writeNpy(options.outputFolder + "/" +
                                            files[index * outputs.size() + i],
                                        outputs[i], WriteMode::Unsynchronised);
        !written)
      return written;
  return {};
}

/// The size of the sample's image as an input: where it is dynamic, that of the
/// sample, which is loaded again.
Result<PostInput> SampleRun::imageInput(size_t index) const {
  const ImageLayout layout = options.post.how.layout;
  if (const PostInput known = imageAmong(inputShapes, layout); known.width > 0)
    return known;
  Result<std::vector<Tensor>> inputs = samples.load(index);
  if (!inputs)
    return inputs.takeError();
  std::vector<Shape> shapes;
  for (const Tensor &each : *inputs)
    shapes.push_back(each.shape());
  return imageAmong(shapes, layout);
}

/// What the steps find; \p outputs become those after them. Boxes are drawn.
Result<std::vector<PostResult>>
SampleRun::postProcess(size_t index, std::vector<Tensor> &outputs) {
  const RunPost &post = options.post;
  if (post.steps.empty())
    return std::vector<PostResult>();
  PostedSample sample{{}, post.how, samples.paths[index]};
  if (findsBoxes(post.steps)) {
    Result<PostInput> input = imageInput(index);
    if (!input)
      return input.takeError();
    sample.input = *input;
  }
  auto found = applyPost(post.steps, outputSpecs, outputs, sample);
  if (!found)
    return inside(samples.names[index], found.takeError());
  if (!post.drawFolder.empty())
    if (Result<void> drawn = drawBoxes(*found, samples.paths[index],
                                       post.drawFolder, stems[index]);
        !drawn)
      return drawn.takeError();
  if (!options.outputFolder.empty())
    if (Result<void> written =
            writeMaps(*found, options.outputFolder, stems[index]);
        !written)
      return written.takeError();
  return found;
}

Result<void> SampleRun::take(size_t index, std::vector<Tensor> outputs) {
  if (!std::exchange(isChecked, true) && options.post.steps.empty())
    if (Result<void> fit =
            checkShown(outputSpecs, outputs, options.shown, options.labelFile);
        !fit)
      return fit;
  auto found = postProcess(index, outputs);
  if (!found)
    return found.takeError();
  if (!options.outputFolder.empty())
    if (Result<void> written = write(index, outputs); !written)
      return written;
  if (common.json) {
    nlohmann::json line = {
        {"sample", samples.names[index]},
        {"index", before + index},
        {"outputs", outputsJson(outputSpecs, outputs, options.shown)}};
    if (!options.post.steps.empty())
      line["post"] = foundJson(*found, options.shown.labels);
    printJsonLine(line);
  } else if (options.outputFolder.empty() || !options.shown.labels.empty() ||
             !found->empty()) {
    printTo(stdout, "%s\n", oneLine(samples.names[index]).c_str());
    if (found->empty() || common.verbose)
      printOutputs(outputSpecs, outputs, options.shown, "  ");
    printFound(*found, options.shown.labels, "  ");
  }
  std::fflush(stdout);
  return {};
}

void SampleRun::showProgress(size_t done, size_t total) {
  if (!activity)
    activity.emplace("running " + common.model);
  activity->update(before + done, isPiped ? 0 : total, "samples");
}

Result<void> SampleRun::finish() {
  activity.reset();
  if (!options.states.folder.empty() && all.done > 0)
    if (Result<void> written =
            writeStates(session.executor(), statesOf(session.executor()),
                        options.states.folder);
        !written)
      return written;
  const std::string batch =
      all.batch == 1 ? ""
                     : text(", batch %lld", static_cast<long long>(all.batch));
  const std::string leftOut =
      all.unreadable == 0 ? "" : text("; %zu left out", all.unreadable);
  const std::string line =
      text("%zu sample%s in %.2f s, %.1f per second (%.3f ms each in runs%s)%s",
           all.done, all.done == 1 ? "" : "s", all.wallMs / 1000,
           static_cast<double>(all.done) * 1000 / all.wallMs,
           all.runMs / static_cast<double>(std::max<size_t>(all.done, 1)),
           batch.c_str(), leftOut.c_str());
  if (common.json || all.done == 0)
    printNote(line);
  else
    printTo(stdout, "%s\n", line.c_str());
  return {};
}

Result<void> SampleRun::runOn(Samples more, const NamedShapes &shapes) {
  before += samples.count;
  samples = std::move(more);
  if (Result<void> divided = divide(); !divided)
    return divided;
  const bool writes =
      !options.outputFolder.empty() || !options.post.drawFolder.empty();
  if (writes)
    stems = sampleStems(samples, usedStems);
  BatchRunOptions how;
  how.runs.batch = options.batch;
  how.runs.batchName = "--batch";
  how.runs.shapes = shapes;
  how.runs.prepare = [&](Executor &executor) { return start(executor); };
  how.first = share.first;
  how.end = share.end;
  how.mostUnreadable = options.mostUnreadable;
  how.unreadableBefore = all.unreadable;
  how.progress = [&](size_t done, size_t total) { showProgress(done, total); };
  how.note = [&](const std::string &line) { printNote(line); };
  how.unreadableName = "--skip-unreadable";
  Result<BatchRunReport> report = runBatches(
      session, samples, how, [&](size_t index, std::vector<Tensor> outputs) {
        return take(index, std::move(outputs));
      });
  if (!report) {
    activity.reset();
    return inFile(report.takeError(), common.model);
  }
  all.done += report->done;
  all.unreadable += report->unreadable;
  all.batch = std::max(all.batch, report->batch);
  all.runMs += report->runMs;
  all.wallMs += report->wallMs;
  return {};
}

Result<int> runSamples(Session &session, const CommonOptions &common,
                       const InputOptions &inputs, const InputSources &sources,
                       const NamedShapes &shapes,
                       const SampleRunOptions &options) {
  if (Result<void> good = checkShared("--input", sources.samples); !good)
    return good.takeError();
  SampleOptions found;
  found.names.sources = inputs.names.inputs;
  found.sources = sources.samples;
  found.asRows = true;
  found.pictures = inputs;
  found.pictures.inputs = sources.fixed;
  if (sources.samples.size() == 1 && readsStandardInput(sources.samples[0]))
    found.piped = std::make_shared<PipedSamples>();
  SampleRun run(session, common, options, found.piped != nullptr);
  do {
    Result<Samples> samples = findSamples(session, common.model, found, shapes);
    if (!samples)
      return inFile(samples.takeError(), common.model);
    if (Result<void> ran = run.runOn(std::move(*samples), shapes); !ran)
      return ran.takeError();
  } while (found.piped && !found.piped->hasEnded);
  if (Result<void> finished = run.finish(); !finished)
    return finished.takeError();
  return 0;
}

} // namespace sinter::driver
