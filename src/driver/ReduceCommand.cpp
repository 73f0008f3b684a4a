//===- ReduceCommand.cpp - sinter reduce ----------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/Isolation.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "interface/OutputFiles.h"
#include "runtime/Comparison.h"
#include "runtime/Random.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace sinter::driver {
namespace {

/// The message on the program at \p path without what changes with its size:
/// the file, numbers and names.
std::string gist(std::string message, const std::string &path) {
  if (const size_t at = message.find(path); at != std::string::npos)
    message.erase(at, path.size());
  std::string kept;
  bool quoted = false;
  for (const char letter : message) {
    quoted ^= letter == '\'';
    if (!quoted && (std::isalpha(static_cast<unsigned char>(letter)) ||
                    letter == ' ' || letter == '.' || letter == '_'))
      kept += letter;
  }
  return kept;
}

/// Runs \p work in another process; returns its answer, or how the process
/// ended.
std::string isolated(const std::function<std::string()> &work, double seconds) {
  std::string answer;
  IsolatedWork alone;
  alone.units = 1;
  alone.seconds = seconds;
  alone.work = [&](size_t, size_t first, IsolatedReport &report) {
    if (first > 0)
      return;
    report.begin("program");
    report.end(work());
  };
  alone.done = [&](size_t, const IsolatedResult &result) {
    answer = result.finished ? result.answer : result.problem;
  };
  alone.finished = [](size_t) {};
  runIsolated(alone);
  return answer;
}

std::string shellQuoted(const std::string &text) {
  std::string quoted = "'";
  for (const char letter : text)
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

class ReduceCommand : public Command {
public:
  explicit ReduceCommand(CLI::App &app) {
    addModel(app, common);
    app.add_option("-o,--output", output, "where to write the small program")
        ->type_name("FILE")
        ->group("Output")
        ->required();
    addForce(app, force);
    app.add_option(
           "--command", command,
           "a shell command that shows the failure; {} is the program's file, "
           "and the exit code must stay the same. Default: the backends give "
           "different results for random inputs, or one of them fails")
        ->type_name("COMMAND")
        ->group("Reduce");
    app.add_option("--seed", seed, "seed of the random inputs")
        ->capture_default_str()
        ->type_name("N")
        ->group("Reduce");
    app.add_option("--timeout", seconds, "seconds for one program")
        ->check(CLI::Range(0.001, 1e6) & isNumber())
        ->capture_default_str()
        ->type_name("S")
        ->group("Reduce");
    addTolerance(app, tolerance, "Reduce");
    addReport(app, common);
  }

  Result<int> run() override {
    if (Result<void> good =
            checkOutputFile("-o", output, force ? "" : common.model);
        !good)
      return good.takeError();
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    wanted = failureOf(common.model);
    if (wanted.empty())
      return usageError("'" + common.model + "' does not fail: " +
                        (command.empty()
                             ? "the backends agree on it"
                             : "the command ends with exit code 0"));
    ReduceRequest request;
    request.input = common.model;
    request.output = output;
    request.isInteresting = [this](const std::string &path) {
      return failureOf(path) == wanted;
    };
    Activity activity("reducing " + common.model);
    request.progress = [&, most = 0](const std::string &step,
                                     int operations) mutable {
      most = std::max(most, operations);
      if (common.verbose)
        printTo(stderr, "%5d operations  %s\n", operations, step.c_str());
      activity.update(most - operations, most, "operations", step);
    };
    Result<ReduceOutcome> done = (*compiler)->reduce(request);
    if (!done)
      return done.takeError();
    print(*done);
    return 0;
  }

private:
  /// The error of the program at \p path, in a form that stays the same while
  /// it shrinks; "" without one.
  std::string failureOf(const std::string &path) const {
    return command.empty() ? disagreement(path) : failureOfCommand(path);
  }

  std::string failureOfCommand(const std::string &path) const {
    std::string line = command;
    const std::string quoted = shellQuoted(path);
    if (line.find("{}") == std::string::npos)
      line += " {}";
    for (size_t at = 0; (at = line.find("{}", at)) != std::string::npos;
         at += quoted.size())
      line.replace(at, 2, quoted);
    return isolated(
        [&] {
          const int status =
              std::system(("exec >/dev/null 2>&1; " + line).c_str());
          if (status == 0)
            return std::string();
          return WIFSIGNALED(status)
                     ? "signal " + std::to_string(WTERMSIG(status))
                     : "exit code " + std::to_string(WEXITSTATUS(status));
        },
        seconds);
  }

  /// Both backends on the same random inputs, in another process; one program
  /// at several sizes for dynamic dimensions.
  std::string disagreement(const std::string &path) const {
    return isolated(
        [&]() -> std::string {
          auto sizes = sizesOf(path);
          if (!sizes)
            return "interpreter: " + gist(sizes.error().message(), path);
          for (const std::vector<Shape> &shapes : *sizes)
            if (std::string wrong = disagreementAt(path, shapes);
                !wrong.empty())
              return wrong;
          return "";
        },
        seconds);
  }

  std::string disagreementAt(const std::string &path,
                             const std::vector<Shape> &shapes) const {
    auto expected = outputsOf(path, Backend::Interpreter, shapes);
    if (!expected)
      return "interpreter: " + gist(expected.error().message(), path);
    auto got = outputsOf(path, Backend::Cpu, shapes);
    if (!got)
      return "cpu: " + gist(got.error().message(), path);
    for (size_t i = 0; i < got->size(); ++i)
      if (!expect((*got)[i], (*expected)[i], Expectation::within(tolerance)))
        return "the results differ";
    return "";
  }

  static Result<std::unique_ptr<Session>> open(const std::string &path,
                                               Backend backend) {
    SessionOptions options;
    options.backend = backend;
    options.threads = 1;
    return Session::open(path, options);
  }

  /// Shapes of the inputs at which to compare, in order.
  Result<std::vector<std::vector<Shape>>>
  sizesOf(const std::string &path) const {
    auto session = open(path, Backend::Interpreter);
    if (!session)
      return session.takeError();
    const std::vector<std::optional<Tensor>> nothing(
        (*session)->model().inputs.size());
    auto chosen = (*session)->sizesToCheck(nothing);
    if (!chosen)
      return chosen.takeError();
    std::vector<std::vector<Shape>> all;
    for (SampleSizes &sizes : *chosen)
      if (!sizes.chosen.empty())
        all.push_back(std::move(sizes.shapes));
    if (!all.empty())
      return all;
    auto shapes = (*session)->bind(nothing);
    if (!shapes)
      return shapes.takeError();
    return std::vector<std::vector<Shape>>{std::move(*shapes)};
  }

  Result<std::vector<Tensor>>
  outputsOf(const std::string &path, Backend backend,
            const std::vector<Shape> &shapes) const {
    auto session = open(path, backend);
    if (!session)
      return session.takeError();
    std::vector<Tensor> inputs;
    for (const ModelInput &input : (*session)->model().inputs) {
      inputs.emplace_back(input.spec.type, shapes[inputs.size()]);
      fillRandom(inputs.back(), seed + inputs.size());
    }
    if (Result<void> ready = (*session)->prepare(inputs); !ready)
      return ready.takeError();
    return (*session)->executor().run(inputs);
  }

  void print(const ReduceOutcome &outcome) const {
    if (common.json)
      return printJsonLine({{"model", common.model},
                            {"output", output},
                            {"failure", wanted},
                            {"before", outcome.before},
                            {"after", outcome.after},
                            {"attempts", outcome.attempts}});
    printTo(stdout, "%s\n%d of %d operations left after %d attempts: %s\n",
            wanted.c_str(), outcome.after, outcome.before, outcome.attempts,
            output.c_str());
  }

  CommonOptions common;
  std::string output, command;
  bool force = false;
  uint64_t seed = 0;
  double seconds = 30;
  Tolerance tolerance = backendTolerance();
  std::string wanted;
};

} // namespace

std::unique_ptr<Command> makeReduceCommand(CLI::App &app) {
  return std::make_unique<ReduceCommand>(app);
}

} // namespace sinter::driver
