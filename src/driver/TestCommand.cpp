//===- TestCommand.cpp - sinter test --------------------------------------===//

#include "data/TestCase.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/Isolation.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "runtime/CpuCount.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

using Status = TestOutcome::Status;

/// A case's result, for the report.
struct CaseResult {
  /// The path, and the name of the case if its file has several.
  std::string name;
  TestOutcome outcome;
};

/// The message of a case's outcome from its process: a letter and the reason;
/// then notes, each after a zero.
std::string encode(const TestOutcome &outcome) {
  std::string text =
      "PFS"[static_cast<int>(outcome.status)] + oneLine(outcome.reason);
  for (const std::string &note : outcome.notes)
    text += '\0' + oneLine(note);
  return text;
}

TestOutcome decode(const std::string &answer) {
  std::vector<std::string> parts = partsOf(answer, '\0');
  std::string reason = parts.empty() ? "" : parts.front();
  const Status status = reason.starts_with('P')   ? Status::Passed
                        : reason.starts_with('S') ? Status::Skipped
                                                  : Status::Failed;
  return {status,
          reason.substr(std::min<size_t>(1, reason.size())),
          {parts.empty() ? parts.begin() : parts.begin() + 1, parts.end()}};
}

/// Reports the cases of a worker process.
class CaseReporter : public TestObserver {
public:
  explicit CaseReporter(IsolatedReport &report) : report(report) {}
  bool begin(const std::string &name) override {
    report.begin(name);
    return true;
  }
  void end(const TestOutcome &outcome) override { report.end(encode(outcome)); }

private:
  IsolatedReport &report;
};

class TestCommand : public Command {
public:
  explicit TestCommand(CLI::App &app) {
    app.add_option(
           "DIR", folders,
           "folders with tests in ONNX form (model.onnx, or model "
           "with the extension of another format; "
           "test_data_set_0/input_0.pb, output_0.pb, or input_NAME.npy, "
           "output_NAME.npy), searched to the bottom, or self-checking "
           ".mlir files")
        ->required();
    addParameters(app, common);
    addBackend(app, common);
    addDynamic(app, common);
    addPasses(app, common);
    app.add_option("--cache-dir", common.cacheFolder,
                   "keep compiled programs there (default: nowhere)")
        ->type_name("DIR")
        ->group("Compile");
    addTolerance(app, tolerance, "Test");
    app.add_option("--sizes", sizes,
                   "run a model with dynamic dimensions at up to COUNT sets of "
                   "sizes: those of its data, and others, checked against the "
                   "interpreter")
        ->check(CLI::Range(0, 3))
        ->capture_default_str()
        ->type_name("COUNT")
        ->group("Test");
    app.add_option("-j,--jobs", jobs,
                   "cases at a time (0: one for each processor)")
        ->check(CLI::Range(0u, 1024u))
        ->group("Test");
    app.add_option("--filter", filter, "only cases whose path contains this")
        ->type_name("TEXT")
        ->group("Test");
    app.add_option("--timeout", timeout, "seconds that a case may take")
        ->check(CLI::Range(0.001, 1e6) & isNumber())
        ->capture_default_str()
        ->group("Test");
    addReport(app, common);
  }

  Result<int> run() override {
    Result<std::vector<std::string>> cases = findCases();
    if (!cases)
      return cases.takeError();
    common.noCache = common.cacheFolder.empty();
    Result<SessionOptions> options = sessionOptions(common);
    if (!options)
      return options.takeError();
    options->progress = nullptr;
    options->passes.note = nullptr;
    // Once, before the processes of all cases start.
    if (Result<Compiler *> compiler = loadCompiler(); !compiler)
      return compiler.takeError();
    if (jobs == 0)
      jobs = usableCpuCount();
    if (options->threads == 0)
      options->threads = std::max(1u, usableCpuCount() / jobs);
    runAll(*cases, *options);
    std::string summary = text("%zu passed, %zu failed", counts[0], counts[1]);
    if (counts[2] > 0)
      summary += text(", %zu skipped", counts[2]);
    printTo(common.json ? stderr : stdout, "%s\n", summary.c_str());
    return counts[1] == 0 ? 0 : static_cast<int>(ErrorKind::WrongResult);
  }

private:
  Result<std::vector<std::string>> findCases() const {
    std::vector<std::string> cases;
    for (const std::string &folder : folders) {
      Result<std::vector<std::string>> found = findTestCases(folder);
      if (!found)
        return found;
      for (std::string &path : *found)
        if (path.find(filter) != std::string::npos)
          cases.push_back(std::move(path));
    }
    if (cases.empty())
      return usageError(
          filter.empty()
              ? "no tests in '" + folders[0] +
                    "': expected folders with model.onnx and test_data_set_0"
              : "no test's path contains '" + filter + "'");
    return cases;
  }

  /// Runs everything and reports the results in the order of \p paths.
  void runAll(const std::vector<std::string> &paths,
              const SessionOptions &options) {
    std::vector<std::vector<CaseResult>> results(paths.size());
    std::vector<bool> isDone(paths.size());
    size_t reported = 0;
    IsolatedWork work;
    work.units = paths.size();
    work.processes = jobs;
    work.seconds = timeout;
    work.work = [&](size_t unit, size_t first, IsolatedReport &report) {
      CaseReporter reporter(report);
      const Result<void> opened = runTestCases(
          paths[unit], first, options, tolerance, sizes, reporter,
          [](const std::string &text) { printTo(stderr, "%s", text.c_str()); });
      if (opened)
        return;
      report.begin("");
      report.end(encode({Status::Failed, opened.error().message(), {}}));
    };
    work.done = [&](size_t unit, const IsolatedResult &result) {
      results[unit].push_back(
          {result.name.empty() ? paths[unit] : paths[unit] + ":" + result.name,
           result.finished ? decode(result.answer)
                           : TestOutcome{Status::Failed, result.problem, {}}});
    };
    work.finished = [&](size_t unit) {
      isDone[unit] = true;
      for (; reported < paths.size() && isDone[reported]; ++reported)
        for (const CaseResult &result : results[reported])
          tell(result);
    };
    Activity activity("testing");
    const auto finished = work.finished;
    work.finished = [&, count = size_t(0)](size_t unit) mutable {
      finished(unit);
      activity.update(++count, paths.size(), "cases");
    };
    runIsolated(work);
  }

  void tell(const CaseResult &result) {
    const TestOutcome &outcome = result.outcome;
    ++counts[static_cast<size_t>(outcome.status)];
    const std::string reason = oneLine(outcome.reason);
    if (common.json) {
      static constexpr const char *texts[] = {"passed", "failed", "skipped"};
      nlohmann::json line = {
          {"case", result.name},
          {"status", texts[static_cast<size_t>(outcome.status)]}};
      if (outcome.status != Status::Passed)
        line["reason"] = reason;
      if (!outcome.notes.empty())
        line["notes"] = outcome.notes;
      printJsonLine(line);
    } else if (outcome.status == Status::Failed) {
      printTo(stdout, "FAILED %s: %s\n", result.name.c_str(), reason.c_str());
    }
    std::fflush(stdout);
  }

  CommonOptions common;
  std::vector<std::string> folders;
  std::string filter;
  Tolerance tolerance;
  double timeout = 600;
  unsigned jobs = 0;
  size_t sizes = 3;
  /// Cases passed, failed and skipped.
  size_t counts[3] = {};
};

} // namespace

std::unique_ptr<Command> makeTestCommand(CLI::App &app) {
  return std::make_unique<TestCommand>(app);
}

} // namespace sinter::driver
