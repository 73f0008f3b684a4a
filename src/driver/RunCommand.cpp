//===- RunCommand.cpp - sinter run ----------------------------------------===//

#include "data/Feeds.h"
#include "data/Labels.h"
#include "data/SampleFiles.h"
#include "data/TensorFiles.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/GridOptions.h"
#include "driver/InputOptions.h"
#include "driver/PostOptions.h"
#include "driver/Progress.h"
#include "driver/RunResults.h"
#include "driver/RunSamples.h"
#include "driver/RunStream.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/Trace.h"
#include "interface/OutputFiles.h"
#include "runtime/Npy.h"
#include "runtime/TensorNames.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace sinter::driver {
namespace {

class RunCommand : public Command {
public:
  explicit RunCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    addInputs(app, inputs, /*takesMany=*/true);
    addStates(app, states, /*writes=*/true);
    addShapes(app, common);
    addDynamic(app, common);
    addBinding(app, common);
    common.mayInterpret = true;
    addBackend(app, common);
    addPasses(app, common);
    addCache(app, common);
    app.add_option("-o,--output-dir", outputFolder,
                   "write each output there, as NAME.npy (of many samples as "
                   "SAMPLE_NAME.npy), and each state, as state_NAME.npy")
        ->type_name("DIR")
        ->group("Report");
    CLI::Option *repeated =
        app.add_option("-n,--repeat", repeat,
                       "run the model N times; states persist, and the outputs "
                       "of the last run are printed")
            ->check(CLI::Range(1, 1000000))
            ->type_name("N")
            ->group("Input");
    addMany(app);
    addSteps(app, stream);
    app.get_option("--frames")->excludes(repeated);
    addLabels(app);
    addPost(app, postOptions, "Report");
    addGrid(app, grid);
    addReport(app, common);
    addTrace(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    if (Result<void> good = checkOutputs(); !good)
      return good.takeError();
    // All processes must run on the same backend.
    common.mayInterpret &= !grid.isGrid();
    Result<SessionOptions> wanted = sessionOptions(common);
    if (!wanted)
      return wanted.takeError();
    const NamedShapes shapes = wanted->shapes;
    auto session = openWithDefaults(common.model, std::move(*wanted), inputs);
    if (!session)
      return session.takeError();
    Result<std::vector<std::string>> labels =
        labelsFor((*session)->model(), labelFile, "--labels");
    if (!labels)
      return inFile(labels.takeError(), common.model);
    shown.labels = std::move(*labels);
    if (Result<void> done = preparePost((*session)->model()); !done)
      return done.takeError();
    if (grid.isGrid())
      return runOnGrid(std::move(*session), shapes);
    const bool feedsBack = (repeat > 1 || !states.folder.empty()) &&
                           !keptFeeds((*session)->model()).empty();
    if (stream.isStream() || feedsBack)
      return runSteps(**session, shapes);
    Result<InputSources> sources = inputSources(
        (*session)->model(), inputsOfShapes((*session)->model(), shapes),
        inputs.inputs, batch != 0);
    if (!sources)
      return inFile(sources.takeError(), common.model);
    if (!sources->samples.empty())
      return runMany(**session, *sources, shapes);
    if (batch != 0)
      return usageError("--batch is for many samples, as from a folder, a list "
                        "or an .npy with a leading dimension");
    Result<ReadySession> ready =
        readySession(std::move(*session), common.model, inputs, shapes, false);
    if (!ready)
      return ready.takeError();
    return execute(*ready->session, ready->inputs);
  }

private:
  void addMany(CLI::App &app) {
    app.add_option("-b,--batch", batch,
                   "samples at a time, where there are many and the model's "
                   "batch is dynamic (default: 8, or 1 where it must be)")
        ->check(CLI::Range(1, 1 << 20))
        ->type_name("N")
        ->group("Input");
    app.add_option("--skip-unreadable", mostUnreadable,
                   "how many samples that cannot be read to leave out at most")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group("Input");
  }

  void addLabels(CLI::App &app) {
    app.add_option("--labels", labelFile,
                   "names of classes, one a line: print the most probable ones "
                   "of each row (default: the names that the model keeps)")
        ->type_name("FILE")
        ->group("Report");
    app.add_option("--top", shown.top, "how many of the most probable ones")
        ->check(CLI::PositiveNumber)
        ->capture_default_str()
        ->type_name("K")
        ->group("Report");
  }

  /// Runs the model on each sample.
  Result<int> runMany(Session &session, const InputSources &sources,
                      const NamedShapes &shapes) {
    if (repeat != 1)
      return usageError("--repeat is for one sample, and there are many");
    if (!common.traceFile.empty())
      return usageError("--trace is for one run, and there are many samples");
    return runSamples(
        session, common, inputs, sources, shapes,
        {batch, mostUnreadable, outputFolder, labelFile, shown, states, post});
  }

  /// Runs the model step by step.
  Result<int> runSteps(Session &session, const NamedShapes &shapes) {
    if (batch != 0 || mostUnreadable != 0)
      return usageError("--batch and --skip-unreadable are for samples without "
                        "--feed and --frames");
    return runStream(
        session, common, inputs, shapes,
        {stream, repeat, outputFolder, labelFile, shown, states, post});
  }

  /// The steps behind the outputs.
  Result<void> preparePost(const ModelDescription &model) {
    if (grid.isGrid() && !postOptions.steps.empty())
      return usageError("--post is for models in one process, not for "
                        "replicas and partitions");
    if (grid.isGrid())
      return {};
    Result<PostProcessing> steps =
        postProcessingFor(postOptions, model, printNote);
    if (!steps)
      return inFile(steps.takeError(), common.model);
    post = {std::move(*steps), postOptions.drawFolder, {}};
    if (!post.steps.empty()) {
      // For boxes in the image. Loading it notes what the model keeps.
      InputOptions silent = inputs;
      silent.note = nullptr;
      Result<Preprocessing> prepared = preprocessingFor(model, silent);
      if (!prepared)
        return inFile(prepared.takeError(), common.model);
      post.how = imageOptions(*prepared);
    }
    return prepareFolder("--draw", post.drawFolder);
  }

  /// What the steps find; \p results become those after them. Images are
  /// written.
  Result<std::vector<PostResult>>
  postProcess(const Executor &executor, const std::vector<Tensor> &tensors,
              std::vector<Tensor> &results) const {
    std::vector<Shape> shapes;
    for (const Tensor &each : tensors)
      shapes.push_back(each.shape());
    const PostedSample sample{imageAmong(shapes, post.how.layout), post.how,
                              imageAmong(inputs.inputs)};
    auto found = applyPost(post.steps, executor.outputs(), results, sample);
    if (!found)
      return found;
    const std::string stem =
        std::filesystem::path(sample.image).stem().string();
    if (!post.drawFolder.empty())
      if (Result<void> drawn =
              drawBoxes(*found, sample.image, post.drawFolder, stem);
          !drawn)
        return drawn.takeError();
    return found;
  }

  /// Class maps, beside the outputs that they are of.
  Result<void> writeMapsOf(const std::vector<PostResult> &found) const {
    std::set<std::string> used;
    for (const PostResult &each : found)
      if (Result<void> written =
              writeMaps({each}, outputFolder, fileName(each.output, used));
          !written)
        return written;
    return {};
  }

  /// Runs the model on several processes.
  Result<int> runOnGrid(std::shared_ptr<Session> session,
                        const NamedShapes &shapes) {
    if (stream.isStream() || batch != 0)
      return usageError("--feed, --frames and --batch are for one process");
    Result<ReadySession> ready =
        readySession(std::move(session), common.model,
                     inputsOf(inputs, grid.grid(), 0), shapes, false);
    if (!ready)
      return ready.takeError();
    return executeGrid(*ready->session, shapes);
  }

  /// Whether the output files can be written.
  Result<void> checkOutputs() const {
    if (Result<void> made = prepareFolder("--output-dir", outputFolder); !made)
      return made;
    if (Result<void> made = prepareFolder("--state-dir", states.folder); !made)
      return made;
    return checkOutputFile("--trace", common.traceFile, common.model);
  }

  Result<int> execute(Session &session, const std::vector<Tensor> &tensors) {
    Executor &executor = session.executor();
    if (Result<void> fit = checkLabelsOf(executor, {}); !fit)
      return inFile(fit.takeError(), common.model);
    if (Result<void> given = giveStates(executor, states); !given)
      return inFile(given.takeError(), common.model);
    executor.setProfiling(!common.traceFile.empty());
    const auto start = std::chrono::steady_clock::now();
    Activity activity("running " + common.model);
    Result<std::vector<Tensor>> results = executor.run(tensors);
    for (unsigned i = 1; i < repeat && results; ++i) {
      activity.update(i, repeat, "runs");
      results = executor.run(tensors);
    }
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (!results)
      return inFile(results.takeError(), common.model);
    if (Result<void> fit = checkLabelsOf(executor, *results); !fit)
      return inFile(fit.takeError(), common.model);
    auto found = postProcess(executor, tensors, *results);
    if (!found)
      return inFile(found.takeError(), common.model);
    if (common.verbose)
      printTimes(session.facts(), took.count());
    if (Result<void> written = writeTrace(common, executor); !written)
      return written.takeError();
    if (common.json)
      printJson(session, *results, statesOf(executor), took.count(),
                std::nullopt, *found);
    else
      printText(executor, *results, statesOf(executor), "", *found);
    if (Result<void> written =
            write(executor, *results, statesOf(executor), "");
        !written)
      return written.takeError();
    if (!outputFolder.empty())
      if (Result<void> written = writeMapsOf(*found); !written)
        return written.takeError();
    return 0;
  }

  /// The labels are of an output, unless steps give classes.
  Result<void> checkLabelsOf(const Executor &executor,
                             const std::vector<Tensor> &results) const {
    return post.steps.empty()
               ? checkShown(executor.outputs(), results, shown, labelFile)
               : Result<void>();
  }

  /// Runs the model on several processes; each one's outputs with its number.
  Result<int> executeGrid(Session &session, const NamedShapes &shapes) {
    ProcessInputs inputsOfAll;
    inputsOfAll.tensors = [&](Rank rank) {
      return loadInputs(session, common.model,
                        inputsOf(inputs, grid.grid(), rank), shapes, false);
    };
    inputsOfAll.states = [&](Rank rank, Executor &executor) {
      return giveStates(executor, statesFor(rank));
    };
    auto results =
        runGrid(session, grid, common.backend == "interpreter", inputsOfAll);
    if (!results)
      return inFile(results.takeError(), common.model);
    for (const ProcessResult &process : *results) {
      if (Result<void> fit = checkShown(session.executor().outputs(),
                                        process.outputs, shown, labelFile);
          !fit)
        return inFile(fit.takeError(), common.model);
      const std::string name = "process" + std::to_string(process.rank);
      if (common.json)
        printJson(session, process.outputs, process.states, 0, process.rank);
      else
        printText(session.executor(), process.outputs, process.states,
                  name + " ");
      if (Result<void> written = write(session.executor(), process.outputs,
                                       process.states, "/" + name);
          !written)
        return written.takeError();
      if (Result<void> written = writeOutfeed(process, name); !written)
        return written.takeError();
    }
    return 0;
  }

  /// The outfeed of a process, as outfeed_I_J.npy.
  Result<void> writeOutfeed(const ProcessResult &process,
                            const std::string &name) const {
    for (size_t i = 0; i < process.outfeed.size(); ++i)
      for (size_t j = 0; j < process.outfeed[i].size(); ++j) {
        const std::string label =
            "outfeed_" + std::to_string(i) + "_" + std::to_string(j);
        const Tensor &tensor = process.outfeed[i][j];
        if (!common.json)
          printTo(stdout, "%s %s: %s\n", name.c_str(), label.c_str(),
                  summaryText(tensor).c_str());
        if (outputFolder.empty())
          continue;
        if (Result<void> written = writeNpy(
                outputFolder + "/" + name + "/" + label + ".npy", tensor);
            !written)
          return written;
      }
    return {};
  }

  static void printTimes(const SessionFacts &facts, double runMs) {
    printTo(stderr, "%-20s %10.1f ms\n%-20s %10.1f ms%s\n%-20s %10.3f ms\n",
            "load", facts.loadMs, "compile", facts.compileMs,
            facts.fromCache ? " (from the cache)" : "", "run", runMs);
  }

  void printText(const Executor &executor, const std::vector<Tensor> &results,
                 const std::vector<Tensor> &states,
                 const std::string &prefix = "",
                 const std::vector<PostResult> &found = {}) const {
    if (found.empty() || common.verbose)
      printOutputs(executor.outputs(), results, shown, prefix);
    printFound(found, shown.labels, prefix);
    for (size_t i = 0; i < states.size(); ++i)
      printTo(stdout, "%sstate %s: %s\n", prefix.c_str(),
              oneLine(executor.states()[i].name).c_str(),
              summaryText(states[i]).c_str());
  }

  void printJson(Session &session, const std::vector<Tensor> &results,
                 const std::vector<Tensor> &stateTensors, double runMs,
                 std::optional<Rank> process = std::nullopt,
                 const std::vector<PostResult> &found = {}) {
    const Executor &executor = session.executor();
    nlohmann::json kept = nlohmann::json::array();
    for (size_t i = 0; i < stateTensors.size(); ++i) {
      kept.push_back(summaryJson(stateTensors[i]));
      kept.back()["name"] = executor.states()[i].name;
    }
    nlohmann::json line = {
        {"model", common.model},
        {"backend", session.program() ? "cpu" : "interpreter"},
        {"load_ms", session.facts().loadMs},
        {"compile_ms", session.facts().compileMs},
        {"from_cache", session.facts().fromCache},
        {"precision", common.precision},
        {"matrix_units", usesMatrixUnits(session.program())},
        {"run_ms", runMs},
        {"outputs", outputsJson(executor.outputs(), results, shown)},
        {"state", kept}};
    if (process)
      line["process"] = *process;
    if (!post.steps.empty())
      line["post"] = foundJson(found, shown.labels);
    printJsonLine(line);
  }

  /// The options for the states of one of several processes.
  StateOptions statesFor(Rank rank) const {
    StateOptions own = states;
    for (std::string &given : own.given)
      given = forProcess(std::move(given), grid.grid(), rank);
    if (!own.folder.empty())
      own.folder += "/process" + std::to_string(rank);
    return own;
  }

  /// Writes the results of a run into the user's folders, or into those called
  /// \p inner in them.
  Result<void> write(const Executor &executor,
                     const std::vector<Tensor> &results,
                     const std::vector<Tensor> &stateTensors,
                     const std::string &inner) const {
    if (!outputFolder.empty())
      if (Result<void> written =
              writeOutputs(executor, results, outputFolder + inner);
          !written)
        return written;
    for (const auto &[flag, folder] :
         {std::pair("--output-dir", outputFolder),
          std::pair("--state-dir", states.folder)}) {
      if (folder.empty())
        continue;
      if (Result<void> made = prepareFolder(flag, folder + inner); !made)
        return made;
      if (Result<void> written =
              writeStates(executor, stateTensors, folder + inner);
          !written)
        return written;
    }
    return {};
  }

  Result<void> writeOutputs(const Executor &executor,
                            const std::vector<Tensor> &results,
                            const std::string &folder) const {
    if (Result<void> made = prepareFolder("--output-dir", folder); !made)
      return made;
    const std::span<const TensorSpec> specs = executor.outputs();
    std::set<std::string> used;
    stateFileNames(namesOf(executor.states()), used);
    for (size_t i = 0; i < results.size(); ++i)
      if (Result<void> written =
              writeNpy(folder + "/" + fileName(specs[i].name, used) + ".npy",
                       results[i]);
          !written)
        return written;
    return {};
  }

  CommonOptions common;
  InputOptions inputs;
  StateOptions states;
  GridOptions grid;
  StepOptions stream;
  ShownLabels shown;
  PostOptions postOptions;
  RunPost post;
  int64_t batch = 0;
  size_t mostUnreadable = 0;
  std::string outputFolder, labelFile;
  unsigned repeat = 1;
};

} // namespace

std::unique_ptr<Command> makeRunCommand(CLI::App &app) {
  return std::make_unique<RunCommand>(app);
}

} // namespace sinter::driver
