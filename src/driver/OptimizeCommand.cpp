//===- OptimizeCommand.cpp - sinter optimize ------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "interface/KeptMetadata.h"
#include "interface/ModelFigures.h"
#include "interface/OptimizeOptions.h"
#include "interface/OutputFiles.h"
#include "interface/PreprocessingOptions.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

void printPatterns(const Counts &patterns) {
  if (patterns.empty())
    printTo(stdout, "no pattern applied\n");
  else
    printTo(stdout, "%8s  %s\n", "applied", "pattern");
  for (const auto &[label, count] : patterns)
    printTo(stdout, "%8lld  %s\n", static_cast<long long>(count),
            label.c_str());
}

/// A table of what is counted in \p before and \p after, by name.
template <typename Before, typename After>
void printTable(const char *what, const Before &before, const After &after) {
  std::map<std::string, std::pair<int64_t, int64_t>> rows;
  int64_t allBefore = 0, allAfter = 0;
  for (const auto &[name, count] : before) {
    rows[name].first = count;
    allBefore += count;
  }
  for (const auto &[name, count] : after) {
    rows[name].second = count;
    allAfter += count;
  }
  printTo(stdout, "%8s %8s  %s\n", "before", "after", what);
  for (const auto &[name, counts] : rows)
    printTo(stdout, "%8lld %8lld  %s\n", static_cast<long long>(counts.first),
            static_cast<long long>(counts.second), name.c_str());
  printTo(stdout, "%8lld %8lld  all\n", static_cast<long long>(allBefore),
          static_cast<long long>(allAfter));
}

/// Operators and weights of both files, and the model's FLOPs.
void printFigures(const OptimizeReport &report) {
  const FileCounts &before = report.fileBefore;
  if (const std::optional<FileCounts> &after = report.fileAfter) {
    printTable("operator", before.operators, after->operators);
    printTo(stdout, "weights   %s -> %s\n",
            bytesText(static_cast<double>(before.weightBytes)).c_str(),
            bytesText(static_cast<double>(after->weightBytes)).c_str());
  }
  printTo(stdout, "FLOPs     %s%s\n", flopsText(report.flops).c_str(),
          report.flops.note.empty()
              ? ""
              : (" (" + oneLine(report.flops.note) + ")").c_str());
}

class OptimizeCommand : public Command {
public:
  explicit OptimizeCommand(CLI::App &app) {
    // --list-patterns needs no model.
    addModel(app, common, /*needed=*/false);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option("-o,--output", output, "where to write the simplified model")
        ->type_name("FILE")
        ->group("Output");
    addOverwrite(app, overwrite);
    addShapes(app, common);
    addBinding(app, common);
    addPasses(app, common);
    addOptimization(app, request);
    addKeptMetadata(app, kept);
    addKeptPreprocessing(app, preprocessing);
    app.add_flag("--list-patterns", listPatterns,
                 "print the labels of all patterns and what they do")
        ->group("Report");
    app.add_flag(
           "--stats", stats,
           "print the file's operators, bytes of weights and FLOPs before "
           "and after, and how often each rewrite applied; with -v the "
           "graph's operations, too")
        ->group("Report");
    addReport(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    // All patterns, without counts.
    if (listPatterns && common.model.empty()) {
      Result<Compiler *> compiler = loadCompiler();
      if (!compiler)
        return compiler.takeError();
      list((*compiler)->patterns(), nullptr);
      return 0;
    }
    if (Result<void> good = checkUsage(); !good)
      return good.takeError();
    Result<OptimizeReport> report = optimize();
    if (!report)
      return report.takeError();
    for (const std::string &note : report->notes)
      printTo(stderr, "note: %s: %s\n", common.model.c_str(), note.c_str());
    if (listPatterns)
      list((*loadCompiler())->patterns(), &*report);
    else
      print(*report);
    return 0;
  }

private:
  Result<void> checkUsage() const {
    if (common.model.empty())
      return usageError("MODEL is missing; sinter optimize net.onnx -o "
                        "simple.onnx");
    if (output.empty() && !overwrite.inPlace && !stats && !listPatterns &&
        common.printIrAfter.empty() && common.verifyNumerics.empty() &&
        !common.json)
      return usageError("nothing to do: give -o FILE, --in-place, or --stats");
    if (preprocessing.any() && output.empty() && !overwrite.inPlace)
      return usageError("pre-processing (" + describe(preprocessing.given) +
                        ") needs -o FILE, a model that keeps it");
    return {};
  }

  Result<OptimizeReport> optimize() {
    Result<ModelRequest> input = modelRequest(common);
    if (!input)
      return input.takeError();
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    if (output.empty() && overwrite.inPlace)
      output = common.model;
    output = (*compiler)->outputFor(common.model, output);
    if (Result<void> good = checkOutputFile("-o", output, ""); !good)
      return good.takeError();
    if (Result<void> done = keepInModel(kept, request); !done)
      return done.takeError();
    request.input = std::move(*input);
    if (Result<void> done =
            keepPreprocessing(preprocessing, **compiler, request);
        !done)
      return done.takeError();
    request.output = output;
    request.passes = passOptions(common);
    request.overwrite = overwrite.allowed();
    request.counts = stats || common.json;
    return (*compiler)->optimize(request);
  }

  /// All patterns; with a \p report, how often each was applied to the model.
  void list(const std::vector<PatternDescription> &all,
            const OptimizeReport *report) const {
    std::map<std::string, int64_t> applied;
    if (report)
      applied.insert(report->patterns.begin(), report->patterns.end());
    nlohmann::json patterns = nlohmann::json::array();
    for (const PatternDescription &pattern : all) {
      nlohmann::json entry = {{"label", pattern.label},
                              {"description", pattern.picture},
                              {"pass", pattern.pass},
                              {"needs", pattern.needs},
                              {"form", pattern.isForm}};
      if (report)
        entry["applied"] = applied[pattern.label];
      patterns.push_back(std::move(entry));
      if (common.json)
        continue;
      if (report)
        printTo(stdout, "%8lld  ",
                static_cast<long long>(applied[pattern.label]));
      const std::string needs =
          pattern.needs.empty() ? "" : " (--allow=" + pattern.needs + ")";
      printTo(stdout, "%-28s %s%s%s\n", pattern.label.c_str(),
              pattern.picture.c_str(), needs.c_str(),
              pattern.isForm ? " (form)" : "");
    }
    if (common.json)
      printJsonLine(patterns);
  }

  void print(const OptimizeReport &report) const {
    if (common.json) {
      nlohmann::json all = asJson(report);
      all["model"] = common.model;
      all["output"] = output;
      return printJsonLine(all);
    }
    if (!stats)
      return;
    printFigures(report);
    printTo(stdout, "\n");
    printPatterns(report.patterns);
    if (common.verbose) {
      printTo(stdout, "\n");
      printTable("operation of the graph", report.before, report.after);
    }
    if (report.rescalesBefore || report.rescalesAfter)
      printTo(stdout, "%8lld %8lld  rescales of quantised tensors\n",
              static_cast<long long>(report.rescalesBefore),
              static_cast<long long>(report.rescalesAfter));
  }

  CommonOptions common;
  std::string output;
  OverwriteOptions overwrite;
  OptimizeRequest request;
  KeptMetadata kept;
  KeptPreprocessing preprocessing;
  bool listPatterns = false;
  bool stats = false;
};

} // namespace

std::unique_ptr<Command> makeOptimizeCommand(CLI::App &app) {
  return std::make_unique<OptimizeCommand>(app);
}

} // namespace sinter::driver
