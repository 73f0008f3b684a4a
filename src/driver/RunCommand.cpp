//===- RunCommand.cpp - sinter run ----------------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/GridRun.h"
#include "driver/Inputs.h"
#include "driver/Labels.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "runtime/Npy.h"
#include "runtime/TraceWriter.h"

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
    addFunction(app, common);
    addInputs(app, inputs);
    addShapes(app, common);
    addBinding(app, common);
    common.mayInterpret = true;
    addBackend(app, common);
    addPasses(app, common);
    addCache(app, common);
    app.add_option("--output-dir", outputFolder,
                   "write each output there, as NAME.npy")
        ->type_name("DIR")
        ->group("Report");
    app.add_option("--repeat", repeat,
                   "run so often; what outlives a run goes on, and the last "
                   "run's outputs are told")
        ->check(CLI::Range(1, 1000000))
        ->type_name("N")
        ->group("Input");
    app.add_option("--labels", labelFile,
                   "names of classes, one a line: print the five most probable")
        ->type_name("FILE")
        ->group("Report");
    addGrid(app, grid);
    addReport(app, common);
    addTrace(app, common);
  }

  Result<int> run() override {
    std::vector<std::string> labels;
    if (!labelFile.empty()) {
      Result<std::vector<std::string>> read = readLabels(labelFile);
      if (!read)
        return read.takeError();
      labels = std::move(*read);
    }
    // The processes of a grid must agree how they take turns.
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
  Result<int> execute(Session &session, const std::vector<Tensor> &tensors,
                      const std::vector<std::string> &labels) {
    Executor &executor = session.executor();
    executor.setProfiling(!common.traceFile.empty());
    const auto start = std::chrono::steady_clock::now();
    Result<std::vector<Tensor>> results = executor.run(tensors);
    for (unsigned i = 1; i < repeat && results; ++i)
      results = executor.run(tensors);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (!results) {
      Error error = results.takeError();
      error.message = common.model + ": " + error.message;
      return error;
    }
    if (common.verbose)
      printTimes(session.facts(), took.count());
    if (!common.traceFile.empty()) {
      TraceWriter trace;
      trace.addLayers("layers", executor.layerTimes());
      if (Result<void> written = trace.write(common.traceFile); !written)
        return written.takeError();
    }
    if (common.json)
      printJson(session, *results, labels, took.count());
    else
      printText(executor, *results, labels);
    if (Result<void> written =
            writeOutputs(executor.outputs(), *results, outputFolder);
        !written)
      return written.takeError();
    return 0;
  }

  /// The model as many processes; each one's outputs with its number.
  Result<int> executeGrid(Session &session,
                          const std::vector<std::string> &labels) {
    Result<NamedShapes> shapes = parseShapes(common.shapes);
    if (!shapes)
      return shapes.takeError();
    const auto inputsFor = [&](Rank rank) {
      return loadInputs(session, common.model,
                        inputsOf(inputs, grid.grid(), rank), *shapes, false);
    };
    auto results =
        runGrid(session, grid, common.backend == "interpreter", inputsFor);
    if (!results) {
      Error error = results.takeError();
      error.message = common.model + ": " + error.message;
      return error;
    }
    const std::span<const TensorSpec> specs = session.executor().outputs();
    for (const ProcessResult &process : *results) {
      const std::string name = "process" + std::to_string(process.rank);
      if (common.json)
        printJson(session, process.outputs, labels, 0, process.rank);
      else
        printText(session.executor(), process.outputs, labels, name + " ");
      if (Result<void> written = writeOutputs(
              specs, process.outputs,
              outputFolder.empty() ? "" : outputFolder + "/" + name);
          !written)
        return written.takeError();
      if (Result<void> written = writeOutfeed(process, name); !written)
        return written.takeError();
    }
    return 0;
  }

  /// What a process gave to the outfeed, as outfeed_I_J.npy.
  Result<void> writeOutfeed(const ProcessResult &process,
                            const std::string &name) const {
    for (size_t i = 0; i < process.outfeed.size(); ++i)
      for (size_t j = 0; j < process.outfeed[i].size(); ++j) {
        const std::string label =
            "outfeed_" + std::to_string(i) + "_" + std::to_string(j);
        const Tensor &tensor = process.outfeed[i][j];
        if (!common.json)
          std::printf("%s %s: %s\n", name.c_str(), label.c_str(),
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
    std::fprintf(stderr,
                 "%-20s %10.1f ms\n%-20s %10.1f ms%s\n%-20s %10.3f ms\n",
                 "load", facts.loadMs, "compile", facts.compileMs,
                 facts.fromCache ? " (from the cache)" : "", "run", runMs);
  }

  static void printText(const Executor &executor,
                        const std::vector<Tensor> &results,
                        const std::vector<std::string> &labels,
                        const std::string &prefix = "") {
    const std::span<const TensorSpec> specs = executor.outputs();
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor &tensor = results[i];
      const std::vector<LabelScore> best = mostProbable(tensor, labels, 5);
      for (const LabelScore &score : best)
        std::printf("%s%-24s %.4f\n", prefix.c_str(), score.label.c_str(),
                    score.probability);
      if (!best.empty())
        continue;
      std::printf("%s%s: %s\n", prefix.c_str(), specs[i].name.c_str(),
                  summaryText(tensor).c_str());
    }
    for (size_t i = 0; i < executor.states().size(); ++i)
      std::printf("state %s: %s\n", executor.states()[i].name.c_str(),
                  summaryText(executor.state(i)).c_str());
  }

  void printJson(const Session &session, const std::vector<Tensor> &results,
                 const std::vector<std::string> &labels, double runMs,
                 std::optional<Rank> process = std::nullopt) {
    nlohmann::json outputs = nlohmann::json::array();
    const std::span<const TensorSpec> specs =
        const_cast<Session &>(session).executor().outputs();
    for (size_t i = 0; i < results.size(); ++i) {
      nlohmann::json entry = summaryJson(results[i]);
      entry["name"] = specs[i].name;
      for (const LabelScore &score : mostProbable(results[i], labels, 5))
        entry["labels"].push_back(
            {{"label", score.label}, {"probability", score.probability}});
      outputs.push_back(std::move(entry));
    }
    nlohmann::json states = nlohmann::json::array();
    const Executor &executor = const_cast<Session &>(session).executor();
    for (size_t i = 0; i < executor.states().size(); ++i) {
      states.push_back(summaryJson(executor.state(i)));
      states.back()["name"] = executor.states()[i].name;
    }
    nlohmann::json line = {
        {"model", common.model},
        {"backend", session.program() ? "cpu" : "interpreter"},
        {"load_ms", session.facts().loadMs},
        {"compile_ms", session.facts().compileMs},
        {"from_cache", session.facts().fromCache},
        {"run_ms", runMs},
        {"outputs", outputs},
        {"state", states}};
    if (process)
      line["process"] = *process;
    printJsonLine(line);
  }

  /// A tensor's name as a file's: names come from strangers.
  static std::string fileName(std::string name, std::set<std::string> &used) {
    constexpr size_t longest = 150;
    name.resize(std::min(name.size(), longest));
    for (char &letter : name)
      if (letter == '/' || static_cast<unsigned char>(letter) < ' ')
        letter = '_';
    if (name.empty() || name[0] == '.')
      name.insert(0, "_");
    std::string unique = name;
    for (int number = 1; !used.insert(unique).second; ++number)
      unique = name + "_" + std::to_string(number);
    return unique + ".npy";
  }

  Result<void> writeOutputs(std::span<const TensorSpec> specs,
                            const std::vector<Tensor> &results,
                            const std::string &folder) const {
    if (folder.empty())
      return {};
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
      return systemError("cannot make the folder '" + folder +
                         "': " + failed.message());
    std::set<std::string> used;
    for (size_t i = 0; i < results.size(); ++i)
      if (Result<void> written = writeNpy(
              folder + "/" + fileName(specs[i].name, used), results[i]);
          !written)
        return written;
    return {};
  }

  CommonOptions common;
  InputOptions inputs;
  GridOptions grid;
  std::string outputFolder, labelFile;
  unsigned repeat = 1;
};

} // namespace

std::unique_ptr<Command> makeRunCommand(CLI::App &app) {
  return std::make_unique<RunCommand>(app);
}

} // namespace sinter::driver
