//===- CommonOptions.cpp - options that several sub-commands share --------===//

#include "driver/CommonOptions.h"

#include "driver/Bindings.h"
#include "driver/MachineReport.h"
#include "driver/Progress.h"
#include "driver/Text.h"
#include "runtime/CpuCount.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace sinter::driver {

void addParameters(CLI::App &app, CommonOptions &options) {
  app.add_option("--params", options.parameters,
                 "the file with the parameters, or the folder with a file a "
                 "parameter, of a PaddlePaddle program (default: looked for "
                 "beside it by the usual names)")
      ->type_name("PATH")
      ->group("Input");
  app.add_flag("--random-parameters{0}", options.randomParameters,
               "instead of those, random numbers; =SEED: others")
      ->group("Input");
}

void addModel(CLI::App &app, CommonOptions &options, bool needed) {
  app.add_option("MODEL", options.model, std::string("the model: ") + readForms)
      ->required(needed);
}

void addFunction(CLI::App &app, CommonOptions &options) {
  app.add_option("--function", options.function,
                 "the function to look at, in a StableHLO program that has "
                 "several (default: the only public one, or main)")
      ->type_name("NAME")
      ->group("Input");
}

void addShapes(CLI::App &app, CommonOptions &options) {
  app.add_option("--shape", options.shapes,
                 "an input's shape, as in x:1x3x224x224, or x:Nx3x224x224, "
                 "which leaves a size open; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME:SHAPE")
      ->group("Input");
}

void addBinding(CLI::App &app, CommonOptions &options) {
  app.add_option(
         "--bind", options.bound,
         "an input that becomes a constant, a weight say, by name or "
         "number: a file, or numbers as in rate=16000; also an .npz archive, "
         "a folder of .npy files, or one "
         "that PyTorch/XLA wrote, that have several by name; may be "
         "repeated")
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE")
      ->group("Input");
}

void addBackend(CLI::App &app, CommonOptions &options) {
  app.add_option("--backend", options.backend,
                 "cpu: native code; interpreter: every operation straight "
                 "from its definition")
      ->check(CLI::IsMember({"cpu", "interpreter"}))
      ->each([&options](const std::string &) { options.mayInterpret = false; })
      ->capture_default_str()
      ->group("Compile");
  addArithmetic(app, options);
}

void addOpen(CLI::App &app, CommonOptions &options) {
  options.openSizes = OpenSizes::Unknown;
  CLI::Option *open =
      app.add_flag(
             "--open{*}", options.open,
             "compile one program for all sizes of the unknown dimensions, or "
             "of those with these symbols (--open=N,sequence), and let --shape "
             "say which sizes are run (default: of those to which --shape "
             "gives none). What cannot be compiled so is compiled for the "
             "sizes at hand, with a note")
          ->group("Compile");
  app.add_flag("--closed", options.closed,
               "compile a program for each size, which may choose its kernels "
               "by that")
      ->excludes(open)
      ->group("Compile");
  app.add_option("--max", options.most,
                 "the largest sizes of unknown dimensions, as in "
                 "N=64,sequence=512: memory for them is taken once, and what "
                 "is larger is refused")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME=SIZE,...")
      ->group("Compile");
}

void addArithmetic(CLI::App &app, CommonOptions &options) {
  app.add_option("--threads", options.threads,
                 "threads to compile and run with (default: " +
                     std::to_string(usableCpuCount()) +
                     ", the processors there are)")
      ->check(CLI::Range(1, 4096))
      ->group("Compile");
  auto *precision =
      app.add_option("--precision", options.precision,
                     "what products of f32 may be computed with: f32-exact, as "
                     "near as in f32 (about 1e-6 of the greatest result); f32: "
                     "also by Winograd's method and by three products of bf16 "
                     "parts (1e-5); bf16: also by one product (3e-3)")
          ->check(CLI::IsMember(std::vector<std::string>(precisionNames.begin(),
                                                         precisionNames.end())))
          ->capture_default_str()
          ->group("Compile");
  app.add_flag_callback(
         "--exact-convolution",
         [&options] { options.precision = name(Precision::Exact); },
         "the same as --precision f32-exact")
      ->excludes(precision)
      ->group("Compile");
  app.add_option("--cpu", options.cpu,
                 "compile for this CPU, by LLVM's name (x86-64-v3), which has "
                 "no more than the one here")
      ->type_name("NAME")
      ->group("Compile");
  app.add_option("--features", options.features,
                 "instruction sets that the CPU has besides, or that shall not "
                 "be used, by LLVM's names: --features=-amx-tile leaves matrix "
                 "units alone")
      ->type_name("+F,-F,...")
      ->group("Compile");
  app.add_flag("--denormals", options.denormals,
               "compute with denormal numbers (below 1.2e-38 in f32), which "
               "are otherwise taken for zero: up to a hundred times slower "
               "where there are any")
      ->group("Compile");
}

/// An option of names with commas between.
static void addNames(CLI::App &app, const char *flag,
                     std::vector<std::string> &values, const char *help,
                     const char *type) {
  app.add_option(flag, values, help)
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name(type)
      ->group("Compile");
}

void addPatterns(CLI::App &app, CommonOptions &options) {
  const auto list = [&](const char *flag, std::vector<std::string> &values,
                        const char *help, const char *type) {
    addNames(app, flag, values, help, type);
  };
  list("--disable-patterns", options.disabledPatterns,
       "rewrite without these; all: without any (optimize --list-patterns "
       "prints them)",
       "LABEL,...");
  list("--enable-patterns", options.enabledPatterns,
       "rewrite with these, though they are off by default", "LABEL,...");
  list("--allow", options.allowed,
       "let rewrites change floating-point results so far: reassociate, "
       "contract, reciprocal, nonan, noinf, nosignedzero; all (of these); or "
       "quantised ones by a unit where they are rescaled: requantize (in a "
       "file that spells them out, as --raise-quantized does it)",
       "NAME,...");
}

void addPasses(CLI::App &app, CommonOptions &options) {
  addPatterns(app, options);
  app.add_flag("--verify-numerics{passes}", options.verifyNumerics,
               "check every pass against the interpreter; =each: every single "
               "rewrite")
      ->check(CLI::IsMember({"passes", "each"}))
      ->group("Compile");
  addNames(
      app, "--print-ir-after", options.printIrAfter,
      "print the graph to standard error after these passes (all: every one)",
      "PASS,...");
}

void addCache(CLI::App &app, CommonOptions &options) {
  app.add_option("--cache-dir", options.cacheFolder,
                 "where finished programs are kept")
      ->default_str(defaultCacheFolder())
      ->type_name("DIR")
      ->group("Compile");
  app.add_flag("--no-cache", options.noCache, "keep and use no programs")
      ->group("Compile");
}

std::string cacheFolder(const CommonOptions &options) {
  if (options.noCache)
    return "";
  return options.cacheFolder.empty() ? defaultCacheFolder()
                                     : options.cacheFolder;
}

void addTolerance(CLI::App &app, Tolerance &tolerance, const char *group) {
  const auto number = [&](const char *flag, double &value, const char *help) {
    app.add_option(flag, value, help)
        ->check(CLI::NonNegativeNumber & isNumber())
        ->capture_default_str()
        ->type_name("X")
        ->group(group);
  };
  number("--rtol", tolerance.relative,
         "relative tolerance: times the expected value");
  number("--atol", tolerance.absolute, "absolute tolerance");
  number("--range-atol", tolerance.ofRange,
         "tolerance as a part of the tensor's largest magnitude");
}

CLI::Validator isNumber() {
  return CLI::Validator(
      [](std::string &value) {
        return std::isnan(std::strtod(value.c_str(), nullptr))
                   ? "'" + value + "' is no number"
                   : std::string();
      },
      "");
}

void addForce(CLI::App &app, bool &force) {
  app.add_flag("--force", force,
               "let the output take the place of the model itself, or of a "
               "file with its weights");
}

void addOverwrite(CLI::App &app, OverwriteOptions &options) {
  addForce(app, options.force);
  app.add_flag("--in-place", options.inPlace,
               "the output takes the place of the model itself, its folder, "
               "too: it is written beside that and renamed");
}

void addReport(CLI::App &app, CommonOptions &options) {
  app.add_flag("--json", options.json,
               "results as JSON on standard output, all else on standard error")
      ->group("Report");
  app.add_flag("-v,--verbose", options.verbose,
               "how long each stage takes, on standard error")
      ->group("Report");
}

void addTrace(CLI::App &app, CommonOptions &options) {
  app.add_option(
         "--trace", options.traceFile,
         "write the times of compiling and of the layers for ui.perfetto.dev")
      ->type_name("FILE")
      ->group("Report");
}

/// Takes "1x3x?" as the shape of \p input; "" is a scalar.
static bool parseShape(const std::string &input, std::string_view text,
                       GivenShapes &given) {
  Shape shape;
  if (!text.empty())
    for (const std::string &part : partsOf(text, 'x')) {
      const bool isName =
          !part.empty() &&
          (std::isalpha(static_cast<unsigned char>(part[0])) || part[0] == '_');
      const std::optional<int64_t> size = parseSize(part);
      if (!size && !isName && part != "?")
        return false;
      if (isName)
        given.names.push_back({input, shape.size(), part});
      shape.push_back(size.value_or(-1));
    }
  return given.shapes.emplace(input, std::move(shape)).second;
}

Result<GivenShapes> parseShapes(const std::vector<std::string> &texts) {
  GivenShapes given;
  for (const std::string &entry : texts) {
    const size_t colon = entry.rfind(':');
    const std::string input = entry.substr(0, colon);
    if (given.shapes.contains(input))
      return usageError("--shape: '" + input + "' is given twice");
    if (colon == std::string::npos || colon == 0 ||
        !parseShape(input, std::string_view(entry).substr(colon + 1), given))
      return usageError("--shape '" + entry +
                        "': expected an input's name and its shape, as in "
                        "x:1x3x224x224");
  }
  return given;
}

/// What --max says.
static Result<SizeBounds> parseBounds(const std::vector<std::string> &texts) {
  SizeBounds bounds;
  for (const std::string &text : texts) {
    const size_t equals = text.rfind('=');
    const std::optional<int64_t> most =
        equals == std::string::npos ? std::nullopt
                                    : parseSize(text.substr(equals + 1));
    if (!most || equals == 0)
      return usageError("--max '" + text +
                        "': expected a dimension's name and its largest size, "
                        "as in sequence=512");
    if (!bounds.emplace(text.substr(0, equals), *most).second)
      return usageError("--max: '" + text.substr(0, equals) +
                        "' is given twice");
  }
  return bounds;
}

PassOptions passOptions(const CommonOptions &options) {
  PassOptions passes;
  passes.disabledPatterns = options.disabledPatterns;
  passes.enabledPatterns = options.enabledPatterns;
  passes.allowed = options.allowed;
  passes.verifyNumerics = !options.verifyNumerics.empty();
  passes.verifyEach = options.verifyNumerics == "each";
  passes.printIrAfter = options.printIrAfter;
  passes.note = printNote;
  return passes;
}

static Result<OpenOptions> openOptions(const CommonOptions &options) {
  OpenOptions opening;
  opening.parameters = options.parameters;
  const std::string &text = options.randomParameters;
  if (text.empty())
    return opening;
  if (!opening.parameters.empty())
    return usageError("--params and --random-parameters exclude each other");
  uint64_t seed = 0;
  const char *end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, seed);
      error != std::errc() || stop != end)
    return usageError("--random-parameters: '" + text +
                      "' is not a seed: a number from 0 on");
  opening.randomParameters = seed;
  return opening;
}

Result<ModelRequest> modelRequest(const CommonOptions &options) {
  Result<GivenShapes> given = parseShapes(options.shapes);
  if (!given)
    return given.takeError();
  Result<OpenOptions> opening = openOptions(options);
  if (!opening)
    return opening.takeError();
  Result<NamedTensors> bound = readBindings(options.bound, [&] {
    SessionOptions described;
    described.shapes = given->shapes;
    described.dimensionNames = given->names;
    described.function = options.function;
    described.opening = *opening;
    described.cacheFolder = cacheFolder(options);
    return Session::open(options.model, std::move(described));
  });
  if (!bound)
    return bound.takeError();
  return ModelRequest{options.model,
                      std::move(given->shapes),
                      std::move(*bound),
                      options.function,
                      printNote,
                      std::move(*opening),
                      {},
                      {},
                      std::move(given->names)};
}

CodeOptions codeOptions(const CommonOptions &options) {
  CodeOptions code;
  code.precision = precisionNamed(options.precision).value();
  code.cpu = options.cpu;
  code.features = options.features;
  code.denormals = options.denormals ? Denormals::Keep : Denormals::Flush;
  return code;
}

std::function<void(const std::string &)>
choicePrinter(const CommonOptions &options) {
  if (!options.verbose)
    return {};
  return [](const std::string &line) {
    std::fprintf(stderr, "estimated  %s\n", line.c_str());
  };
}

CompileObserver stageObserver(const CommonOptions &options) {
  return [isTold = options.verbose, isKept = !options.traceFile.empty(),
          kept = options.stages](const CompileStage &stage) {
    if (isTold && stage.kernel.empty())
      std::fprintf(stderr, "%-20s %10.1f ms\n", stage.name.c_str(),
                   stage.seconds() * 1e3);
    if (isKept)
      kept->push_back(stage);
  };
}

Result<SessionOptions> sessionOptions(const CommonOptions &options) {
  SessionOptions session;
  Result<ModelRequest> model = modelRequest(options);
  if (!model)
    return model.takeError();
  session.shapes = std::move(model->shapes);
  session.dimensionNames = std::move(model->dimensionNames);
  session.bound = std::move(model->bound);
  session.function = options.function;
  session.opening = std::move(model->opening);
  session.backend =
      options.backend == "cpu" ? Backend::Cpu : Backend::Interpreter;
  session.mayInterpret = options.mayInterpret;
  session.threads = options.threads;
  session.openSizes = options.closed         ? OpenSizes::None
                      : options.open.empty() ? options.openSizes
                                             : OpenSizes::Wanted;
  if (!options.open.empty() && options.open != "*")
    session.open = partsOf(options.open, ',');
  Result<SizeBounds> most = parseBounds(options.most);
  if (!most)
    return most.takeError();
  session.most = std::move(*most);
  static_cast<CodeOptions &>(session) = codeOptions(options);
  session.cacheFolder = cacheFolder(options);
  session.ceilings = keptCeilings(session.cacheFolder);
  session.passes = passOptions(options);
  session.note = printNote;
  session.progress = progressLine("compiling", "kernels");
  session.stages = stageObserver(options);
  session.choice = choicePrinter(options);
  return session;
}

} // namespace sinter::driver
