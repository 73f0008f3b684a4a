//===- CompareCommand.cpp - sinter compare --------------------------------===//

#include "compare/ModelComparison.h"
#include "data/TensorFiles.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/CompareText.h"
#include "driver/InputOptions.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/ThisProgram.h"
#include "engine/CompilerLibrary.h"
#include "interface/CompareOptions.h"
#include "interface/OutputFiles.h"
#include "runtime/MappedFile.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace sinter::driver {
namespace {

class CompareCommand : public Command {
public:
  explicit CompareCommand(CLI::App &app) {
    app.add_option("MODEL", models,
                   std::string("one model or two: ") + readForms +
                       "; the results of the first are the expected ones")
        ->expected(1, 2)
        ->required();
    app.add_option("--backend", backends,
                   "cpu or interpreter; with a comma between, one for each "
                   "side (default: interpreter,cpu for one model, else cpu)")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->check(CLI::IsMember({"cpu", "interpreter"}))
        ->type_name("NAME[,NAME]")
        ->group("Compare");
    app.add_flag(
           "--passes", passes,
           "compare the model before and after the passes, both by the "
           "interpreter, and name the first pass after which results differ")
        ->group("Compare");
    app.add_option("--with", tensors,
                   "compare with tensors of another tool: an .npz archive or a "
                   "folder of .npy files by the tensors' or nodes' names, or a "
                   "folder of output_0.pb, ...")
        ->type_name("FILE")
        ->group("Compare");
    app.add_option("--memory", memory,
                   "megabytes of intermediate tensors at a time (default: an "
                   "eighth of the machine's memory)")
        ->check(CLI::Range(1e-6, 1e9) & isNumber())
        ->type_name("MB")
        ->group("Compare");
    app.add_flag("--outputs-only", outputsOnly,
                 "do not compare intermediate tensors")
        ->group("Compare");
    app.add_flag("--bisect", bisect,
                 "find the rewrite that causes the difference: its pass, its "
                 "pattern, the operation, and its source location")
        ->group("Compare");
    app.add_option("--reduce", reduced,
                   "write the smallest model found that still differs")
        ->type_name("FILE")
        ->group("Compare");
    addForce(app, force);
    addCriteria(app, criteria, "Compare");
    addParameters(app, common);
    addFunction(app, common);
    addInputs(app, inputs);
    app.add_option("--data-set", dataSet,
                   "a folder of input_0.pb, ..., one for each input in order, "
                   "as ONNX's tests have them")
        ->type_name("DIR")
        ->group("Input");
    addStates(app, states, /*writes=*/false);
    addShapes(app, common);
    addDynamic(app, common);
    addBinding(app, common);
    addArithmetic(app, common);
    addPatterns(app, common);
    app.add_option("--html", page,
                   "write the report as one self-contained page")
        ->type_name("FILE")
        ->group("Report");
    addReport(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    if (Result<void> good = checkUsage(); !good)
      return good.takeError();
    common.model = models.front();
    common.noCache = true;
    Result<std::unique_ptr<ModelComparison>> made = prepare();
    if (!made)
      return made.takeError();
    ModelComparison &comparison = **made;
    comparison.names = {"--shape",  "--memory", "--backend",
                        "--passes", "--bisect", "--min-snr"};
    CompareReport &report = comparison.report;
    if (memory)
      comparison.mostBytes = static_cast<uint64_t>(*memory * 1e6);
    if (Result<void> done = comparison.compareOutputsAt(
            sizes,
            [this](CompareSide &side, const SampleSizes &of) {
              return inputsOf(side, of);
            },
            printNote);
        !done)
      return done.takeError();
    if (!outputsOnly)
      if (Result<void> done = comparison.compareTensors(); !done)
        return done.takeError();
    if (!report.agrees())
      if (Result<void> done = explain(comparison); !done)
        return done.takeError();
    if (!page.empty())
      if (Result<void> written = writeFileAtomically(page, reportPage(report));
          !written)
        return written.takeError();
    for (const std::string &note : report.notes)
      printNote(note);
    if (common.json) {
      nlohmann::json json = reportJson(report);
      json["precision"] = common.precision;
      printJsonLine(json);
    } else {
      printTo(stdout, "%s", reportText(report, common.verbose).c_str());
    }
    return report.agrees() ? 0 : static_cast<int>(ErrorKind::WrongResult);
  }

private:
  bool isOneModel() const { return models.size() == 1; }

  Result<void> checkUsage() const {
    if (backends.size() > 2)
      return usageError("--backend: one, or two with a comma between");
    if (!isOneModel() && (passes || !tensors.empty()))
      return usageError(std::string(passes ? "--passes" : "--with") +
                        " is about one model");
    if (passes && (!tensors.empty() || !backends.empty()))
      return usageError("--passes compares by the interpreter: it goes with "
                        "neither --with nor --backend");
    if (!tensors.empty() && backends.size() > 1)
      return usageError("--with is compared with what one backend computes");
    if ((bisect || !reduced.empty()) && (!isOneModel() || !tensors.empty()))
      return usageError(std::string(bisect ? "--bisect" : "--reduce") +
                        " is for one model and two ways to run it: --passes, "
                        "or --backend with two");
    if (!reduced.empty() && !common.bound.empty())
      return usageError("--reduce: there is no --bind for the smaller models");
    if (isOneModel() && !passes && tensors.empty() && backends.size() == 2 &&
        backends[0] == backends[1])
      return usageError("--backend: both sides are the same");
    if (!dataSet.empty() && !inputs.inputs.empty())
      return usageError("--data-set and --input both give the inputs");
    if (Result<void> good = checkOutputFile("--html", page, models[0]); !good)
      return good;
    return checkOutputFile("--reduce", reduced, force ? "" : models[0]);
  }

  /// The backend of the first side or the second.
  std::string backendOf(size_t side) const {
    if (passes)
      return "interpreter";
    if (!backends.empty())
      return backends[std::min(side, backends.size() - 1)];
    return isOneModel() && side == 0 && tensors.empty() ? "interpreter" : "cpu";
  }

  /// The name of a side in messages.
  std::string titleOf(size_t side) const {
    if (passes)
      return models[0] +
             (side == 0 ? ", before the passes" : ", after the passes");
    return models[std::min(side, models.size() - 1)] + " (" + backendOf(side) +
           ")";
  }

  Result<CompareSide> open(size_t side) const {
    CommonOptions own = common;
    own.model = models[std::min(side, models.size() - 1)];
    own.backend = backendOf(side);
    // The second model gets the shapes of the first one's inputs.
    if (side > 0 && !isOneModel())
      own.shapes.clear();
    Result<SessionOptions> options = sessionOptions(own);
    if (!options)
      return options.takeError();
    options->interpretsRewritten = passes && side == 1;
    // --shape sets the sizes of the run, not the program.
    if (options->dynamicSizes == DynamicSizes::Unknown)
      options->dynamicSizes = DynamicSizes::Wanted;
    options->mayInterpret = false;
    return CompareSide::open(own.model, titleOf(side), std::move(*options),
                             inputs);
  }

  /// Random values of \p sizes for inputs that are not given.
  Result<std::vector<Tensor>> inputsOf(const CompareSide &side,
                                       const SampleSizes &sizes) const {
    if (!dataSet.empty())
      return readDataSet(dataSet, "input", side.session->model());
    Result<NamedShapes> shapes = shapesFor(common, side.session->model());
    if (!shapes)
      return shapes.takeError();
    return inputsAt(side, sizes, inputs, std::move(*shapes));
  }

  /// Several sizes that both sides accept, if none is given.
  Result<std::vector<SampleSizes>> sizesFor(CompareSide &first,
                                            CompareSide *second) const {
    if (!dataSet.empty() || !second)
      return std::vector<SampleSizes>(1);
    Result<NamedShapes> shapes = shapesFor(common, first.session->model());
    if (!shapes)
      return shapes.takeError();
    return sizesToCompare(first, *second, inputs, *shapes);
  }

  Result<std::unique_ptr<ModelComparison>> prepare() {
    Result<CompareSide> first = open(0);
    if (!first)
      return first.takeError();
    sizes.resize(1);
    if (!tensors.empty()) {
      Result<std::vector<Tensor>> given = inputsOf(*first, sizes[0]);
      if (!given)
        return given.takeError();
      first->inputs = std::move(*given);
      Result<NamedTensors> expected =
          readNamedTensors("--with", tensors, first->session->model());
      if (!expected)
        return expected.takeError();
      return std::make_unique<ModelComparison>(
          std::move(*expected), tensors, std::move(*first), states, criteria);
    }
    Result<CompareSide> second = open(1);
    if (!second)
      return second.takeError();
    Result<std::vector<SampleSizes>> chosen = sizesFor(*first, &*second);
    if (!chosen)
      return chosen.takeError();
    sizes = std::move(*chosen);
    return std::make_unique<ModelComparison>(
        std::move(*first), std::move(*second), states, criteria);
  }

  /// Investigates a difference.
  Result<void> explain(ModelComparison &comparison) {
    if (bisect) {
      if (Result<void> done = comparison.findStep(); !done)
        return done;
    } else if (passes) {
      if (Result<void> done = comparison.findPass(); !done)
        return done;
    }
    return reduced.empty() ? Result<void>() : reduce(comparison.report);
  }

  //===--------------------------------------------------------------------===//
  // Smaller models
  //===--------------------------------------------------------------------===//

  /// The command that compares the outputs of the model at \p path in the same
  /// two ways.
  std::vector<std::string> commandFor(const std::string &path) const {
    std::vector<std::string> words = {"sinter", "compare", path,
                                      "--outputs-only"};
    const auto add = [&](const char *flag, const std::string &value) {
      words.insert(words.end(), {flag, value});
    };
    const auto addAll = [&](const char *flag,
                            const std::vector<std::string> &values) {
      for (const std::string &value : values)
        add(flag, value);
    };
    if (passes)
      words.emplace_back("--passes");
    else
      add("--backend", backendOf(0) + "," + backendOf(1));
    if (criteria.isByTolerance()) {
      add("--rtol", text("%.17g", criteria.tolerance.relative));
      add("--atol", text("%.17g", criteria.tolerance.absolute));
      add("--range-atol", text("%.17g", criteria.tolerance.ofRange));
    }
    if (criteria.minDecibels)
      add("--min-snr", text("%.17g", *criteria.minDecibels));
    if (criteria.minCosine)
      add("--min-cosine", text("%.17g", *criteria.minCosine));
    addAll("--disable-patterns", common.disabledPatterns);
    addAll("--enable-patterns", common.enabledPatterns);
    addAll("--allow", common.allowed);
    for (const std::string &input : inputs.inputs)
      if (input.starts_with("random"))
        add("--input", input);
    if (!common.cpu.empty())
      add("--cpu", common.cpu);
    if (!common.features.empty())
      words.push_back("--features=" + common.features);
    add("--precision", common.precision);
    if (common.denormals)
      words.emplace_back("--denormals");
    return words;
  }

  /// Whether they differ on that model; compared in another process, since a
  /// reduced model may do anything.
  bool differOn(const std::string &path) const {
    std::vector<std::string> words = commandFor(path);
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null",
                                         O_WRONLY, 0);
    pid_t process = 0;
    const int failed = ::posix_spawn(&process, thisProgram().c_str(), &actions,
                                     nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    return failed == 0 && ::waitpid(process, &status, 0) == process &&
           WIFEXITED(status) &&
           WEXITSTATUS(status) == static_cast<int>(ErrorKind::WrongResult);
  }

  Result<void> reduce(CompareReport &report) {
    if (!differOn(models[0])) {
      report.notes.push_back(
          "--reduce: on random inputs they do not differ, so "
          "there is nothing to shrink");
      return {};
    }
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    ReduceRequest request;
    request.input = models[0];
    request.output = reduced;
    request.isInteresting = [this](const std::string &path) {
      return differOn(path);
    };
    request.progress = [this](const std::string &step, int operations) {
      if (common.verbose)
        printTo(stderr, "%5d operations  %s\n", operations, step.c_str());
    };
    Result<ReduceOutcome> done = (*compiler)->reduce(request);
    if (!done)
      return done.takeError();
    report.reduced = reduced;
    report.reducedOperations = done->after;
    return {};
  }

  CommonOptions common;
  InputOptions inputs;
  StateOptions states;
  std::vector<std::string> models, backends;
  std::vector<SampleSizes> sizes;
  std::string tensors, dataSet, page, reduced;
  std::optional<double> memory;
  bool passes = false, outputsOnly = false, bisect = false, force = false;
  CompareCriteria criteria;
};

} // namespace

std::unique_ptr<Command> makeCompareCommand(CLI::App &app) {
  return std::make_unique<CompareCommand>(app);
}

} // namespace sinter::driver
