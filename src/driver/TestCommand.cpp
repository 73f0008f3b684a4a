//===- TestCommand.cpp - sinter test --------------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/Isolation.h"
#include "driver/Summary.h"
#include "driver/TestCase.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "formats/onnx/file/OnnxFile.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

class TestCommand : public Command {
public:
  explicit TestCommand(CLI::App &app) {
    app.add_option("DIR", folders,
                   "folders with tests in ONNX form (model.onnx, "
                   "test_data_set_0/input_0.pb, output_0.pb), searched to the "
                   "bottom, or self-checking .mlir files")
        ->required();
    addBackend(app, common);
    addPasses(app, common);
    app.add_option("--cache-dir", common.cacheFolder,
                   "keep finished programs there (default: nowhere)")
        ->type_name("DIR")
        ->group("Compile");
    addTolerance(app);
    app.add_option("--filter", filter, "only cases whose path contains this")
        ->type_name("TEXT")
        ->group("Test");
    app.add_option("--timeout", timeout, "seconds that a case may take")
        ->check(CLI::Range(0.001, 1e6))
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
    // Once, for the processes of all cases.
    if (Result<Compiler *> compiler = loadCompiler(); !compiler)
      return compiler.takeError();
    size_t passed = 0;
    for (const std::string &path : *cases)
      passed += runOne(path, *options);
    std::fprintf(common.json ? stderr : stdout, "%zu passed, %zu failed\n",
                 passed, cases->size() - passed);
    return passed == cases->size() ? 0
                                   : static_cast<int>(ErrorKind::WrongResult);
  }

private:
  void addTolerance(CLI::App &app) {
    const auto number = [&](const char *flag, double &value, const char *help) {
      app.add_option(flag, value, help)
          ->check(CLI::NonNegativeNumber)
          ->capture_default_str()
          ->group("Test");
    };
    number("--rtol", tolerance.relative,
           "relative tolerance: times the expected value");
    number("--atol", tolerance.absolute, "absolute tolerance");
    number("--range-atol", tolerance.ofRange,
           "tolerance as a part of the output's largest magnitude");
  }

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

  bool runOne(const std::string &path, const SessionOptions &options) const {
    const IsolatedResult result = isolated(
        [&]() -> std::string {
          const Result<void> done = runTestCase(path, options, tolerance);
          return done ? good : done.error().message;
        },
        timeout);
    const bool passed = result.finished && result.answer == good;
    const std::string reason =
        onnx::oneLine(result.finished ? result.answer : result.problem);
    if (common.json) {
      nlohmann::json line = {{"case", path},
                             {"status", passed ? "passed" : "failed"}};
      if (!passed)
        line["reason"] = reason;
      printJsonLine(line);
      std::fflush(stdout);
    } else if (!passed) {
      std::printf("FAILED %s: %s\n", path.c_str(), reason.c_str());
      std::fflush(stdout);
    }
    return passed;
  }

  /// What a case's process answers when it passed; else the reason.
  static constexpr const char *good = "passed";

  CommonOptions common;
  std::vector<std::string> folders;
  std::string filter;
  Tolerance tolerance;
  double timeout = 600;
};

} // namespace

std::unique_ptr<Command> makeTestCommand(CLI::App &app) {
  return std::make_unique<TestCommand>(app);
}

} // namespace sinter::driver
