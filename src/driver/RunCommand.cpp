//===- RunCommand.cpp - sinter run ----------------------------------------===//

#include "data/Labels.h"
#include "data/TensorFiles.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/GridOptions.h"
#include "driver/InputOptions.h"
#include "driver/OutputFiles.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/Trace.h"
#include "runtime/Npy.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
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
    addInputs(app, inputs);
    addStates(app, states, /*writes=*/true);
    addShapes(app, common);
    addDynamic(app, common);
    addBinding(app, common);
    common.mayInterpret = true;
    addBackend(app, common);
    addPasses(app, common);
    addCache(app, common);
    app.add_option("--output-dir", outputFolder,
                   "write each output there, as NAME.npy, and each state, as "
                   "state_NAME.npy")
        ->type_name("DIR")
        ->group("Report");
    app.add_option("--repeat", repeat,
                   "run the model N times; states persist, and the outputs of "
                   "the last run are printed")
        ->check(CLI::Range(1, 1000000))
        ->type_name("N")
        ->group("Input");
    app.add_option(
           "--labels", labelFile,
           "names of classes, one a line: print the five most probable ones")
        ->type_name("FILE")
        ->group("Report");
    addGrid(app, grid);
    addReport(app, common);
    addTrace(app, common);
  }

  Result<int> run() override {
    std::vector<std::string> labels;
    if (!labelFile.empty()) {
      Result<std::vector<std::string>> read = readLabels(labelFile, "--labels");
      if (!read)
        return read.takeError();
      labels = std::move(*read);
    }
    if (Result<void> good = checkOutputs(); !good)
      return good.takeError();
    // All processes must run on the same backend.
    common.mayInterpret &= !grid.isGrid();
    Result<ReadySession> ready = openSession(
        common, grid.isGrid() ? inputsOf(inputs, grid.grid(), 0) : inputs,
        false);
    if (!ready)
      return ready.takeError();
    if (grid.isGrid())
      return executeGrid(*ready->session, labels);
    return execute(*ready->session, ready->inputs, labels);
  }

private:
  /// Whether the output files can be written.
  Result<void> checkOutputs() const {
    if (Result<void> made = prepareFolder("--output-dir", outputFolder); !made)
      return made;
    if (Result<void> made = prepareFolder("--state-dir", states.folder); !made)
      return made;
    return checkOutputFile("--trace", common.traceFile, common.model);
  }

  Result<int> execute(Session &session, const std::vector<Tensor> &tensors,
                      const std::vector<std::string> &labels) {
    Executor &executor = session.executor();
    if (Result<void> given = giveStates(executor, states); !given)
      return inFile(given.takeError(), common.model);
    executor.setProfiling(!common.traceFile.empty());
    const auto start = std::chrono::steady_clock::now();
    Result<std::vector<Tensor>> results = executor.run(tensors);
    for (unsigned i = 1; i < repeat && results; ++i)
      results = executor.run(tensors);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (!results)
      return inFile(results.takeError(), common.model);
    if (!labels.empty() &&
        std::ranges::none_of(*results, [&](const Tensor &result) {
          return !mostProbable(result, labels, 1).empty();
        }))
      printNote("--labels: '" + labelFile + "' has " +
                std::to_string(labels.size()) +
                " names, and no output so many classes");
    if (common.verbose)
      printTimes(session.facts(), took.count());
    if (Result<void> written = writeTrace(common, executor); !written)
      return written.takeError();
    if (common.json)
      printJson(session, *results, statesOf(executor), labels, took.count());
    else
      printText(executor, *results, statesOf(executor), labels);
    if (Result<void> written =
            write(executor, *results, statesOf(executor), "");
        !written)
      return written.takeError();
    return 0;
  }

  /// Runs the model on several processes; each one's outputs with its number.
  Result<int> executeGrid(Session &session,
                          const std::vector<std::string> &labels) {
    Result<GivenShapes> given = parseShapes(common.shapes);
    if (!given)
      return given.takeError();
    ProcessInputs inputsOfAll;
    inputsOfAll.tensors = [&](Rank rank) {
      return loadInputs(session, common.model,
                        inputsOf(inputs, grid.grid(), rank), given->shapes,
                        false);
    };
    inputsOfAll.states = [&](Rank rank, Executor &executor) {
      return giveStates(executor, statesFor(rank));
    };
    auto results =
        runGrid(session, grid, common.backend == "interpreter", inputsOfAll);
    if (!results)
      return inFile(results.takeError(), common.model);
    for (const ProcessResult &process : *results) {
      const std::string name = "process" + std::to_string(process.rank);
      if (common.json)
        printJson(session, process.outputs, process.states, labels, 0,
                  process.rank);
      else
        printText(session.executor(), process.outputs, process.states, labels,
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

  static void printText(const Executor &executor,
                        const std::vector<Tensor> &results,
                        const std::vector<Tensor> &states,
                        const std::vector<std::string> &labels,
                        const std::string &prefix = "") {
    const std::span<const TensorSpec> specs = executor.outputs();
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor &tensor = results[i];
      const std::vector<LabelScore> best = mostProbable(tensor, labels, 5);
      for (const LabelScore &score : best)
        printTo(stdout, "%s%-24s %.4f\n", prefix.c_str(), score.label.c_str(),
                score.probability);
      if (!best.empty())
        continue;
      printTo(stdout, "%s%s: %s\n", prefix.c_str(),
              oneLine(specs[i].name).c_str(), summaryText(tensor).c_str());
    }
    for (size_t i = 0; i < states.size(); ++i)
      printTo(stdout, "%sstate %s: %s\n", prefix.c_str(),
              oneLine(executor.states()[i].name).c_str(),
              summaryText(states[i]).c_str());
  }

  void printJson(Session &session, const std::vector<Tensor> &results,
                 const std::vector<Tensor> &stateTensors,
                 const std::vector<std::string> &labels, double runMs,
                 std::optional<Rank> process = std::nullopt) {
    nlohmann::json outputs = nlohmann::json::array();
    const Executor &executor = session.executor();
    const std::span<const TensorSpec> specs = executor.outputs();
    for (size_t i = 0; i < results.size(); ++i) {
      nlohmann::json entry = summaryJson(results[i]);
      entry["name"] = specs[i].name;
      for (const LabelScore &score : mostProbable(results[i], labels, 5))
        entry["labels"].push_back(
            {{"label", score.label}, {"probability", score.probability}});
      outputs.push_back(std::move(entry));
    }
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
        {"outputs", outputs},
        {"state", kept}};
    if (process)
      line["process"] = *process;
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
    stateFileNames(executor, used);
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
  std::string outputFolder, labelFile;
  unsigned repeat = 1;
};

} // namespace

std::unique_ptr<Command> makeRunCommand(CLI::App &app) {
  return std::make_unique<RunCommand>(app);
}

} // namespace sinter::driver
