//===- CommonOptions.cpp - options that several sub-commands share --------===//

#include "interface/CommonOptions.h"

#include "interface/Bindings.h"
#include "interface/KeptCeilings.h"
#include "runtime/Cache.h"
#include "runtime/OptionNames.h"
#include "runtime/Text.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <mutex>

namespace sinter {

void addParameters(CLI::App &app, CommonOptions &options) {
  app.add_option(
         "--params", options.parameters,
         "the file with the parameters, or the folder with a file for each, of "
         "a PaddlePaddle program (default: beside it, by the usual names)")
      ->type_name("PATH")
      ->group("Formats");
  app.add_flag("--random-parameters{0}", options.randomParameters,
               "random parameters of a PaddlePaddle program instead, by a "
               "seed")
      ->type_name("SEED")
      ->group("Formats");
}

void addModel(CLI::App &app, CommonOptions &options, bool needed) {
  app.add_option("MODEL", options.model, std::string("the model: ") + readForms)
      ->required(needed);
}

void addFunction(CLI::App &app, CommonOptions &options) {
  app.add_option("--function", options.function,
                 "the function of a StableHLO program that has several "
                 "(default: the only public one, or main)")
      ->type_name("NAME")
      ->group("Formats");
}

void addShapes(CLI::App &app, CommonOptions &options) {
  app.add_option("--shape", options.shapes,
                 "sizes of dynamic dimensions by name, as in "
                 "batch=2,sequence=16; or an input's shape, as in "
                 "x:1x3x224x224, or x:Nx3x224x224, which keeps a dimension "
                 "dynamic; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=SIZE,...|INPUT:SHAPE")
      ->group("Input");
}

void addBinding(CLI::App &app, CommonOptions &options) {
  app.add_option("--bind", options.bound,
                 "make an input a constant, a weight say, by name or number: a "
                 "file, or values as in rate=16000; also several by name, from "
                 "an .npz archive, a folder of .npy files, or one of "
                 "PyTorch/XLA; may be repeated")
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE")
      ->group("Input");
}

void addBackend(CLI::App &app, CommonOptions &options) {
  app.add_option("--backend", options.backend,
                 "cpu: native code; interpreter: each operation from its "
                 "definition, the reference")
      ->check(CLI::IsMember({"cpu", "interpreter"}))
      ->each([&options](const std::string &) { options.mayInterpret = false; })
      ->capture_default_str()
      ->group("Compile");
  addArithmetic(app, options);
}

void addDynamic(CLI::App &app, CommonOptions &options) {
  options.dynamicSizes = DynamicSizes::Unknown;
  CLI::Option *dynamic =
      app.add_flag(
             "--dynamic{*}", options.dynamic,
             "compile one shape-generic program for all dynamic dimensions, or "
             "for those with these symbols (--dynamic=N,sequence), and run it "
             "at the sizes of --shape (default: for those to which --shape "
             "gives no size). If that is impossible, compile for the given "
             "sizes, with a note")
          ->type_name("NAME,...")
          ->group("Compile");
  app.add_flag("--static", options.isStatic,
               "compile a static program for each size, which may choose its "
               "kernels by that")
      ->excludes(dynamic)
      ->group("Compile");
  app.add_option(
         "--max", options.most,
         "the largest sizes of dynamic dimensions, as in N=64,sequence=512: "
         "memory is allocated once for them, and larger sizes are refused")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME=SIZE,...")
      ->group("Compile");
}

void addThreads(CLI::App &app, CommonOptions &options) {
  app.add_option("-t,--threads", options.threads,
                 "threads to compile and run with (default: 0, one for each "
                 "processor)")
      ->check(CLI::Range(0, 4096))
      ->group("Compile");
}

void addArithmetic(CLI::App &app, CommonOptions &options) {
  addThreads(app, options);
  app.add_option("--precision", options.precision,
                 "how to compute f32 matmuls and convolutions: f32-exact, "
                 "as accurate as f32 (about 1e-6 of the largest result); "
                 "f32: also Winograd and three bf16 matmuls of split "
                 "operands (1e-5); bf16: also one bf16 matmul (3e-3)")
      ->check(CLI::IsMember(std::vector<std::string>(precisionNames.begin(),
                                                     precisionNames.end())))
      ->capture_default_str()
      ->group("Compile");
  app.add_option("--cpu", options.cpu,
                 "compile for this CPU, by LLVM's name (x86-64-v3); it must "
                 "not have more instructions than this one")
      ->type_name("NAME")
      ->group("Compile");
  app.add_option("--features", options.features,
                 "instruction sets to add or to leave out, by LLVM's names: "
                 "--features=-amx-tile disables AMX")
      ->type_name("+F,-F,...")
      ->group("Compile");
  app.add_flag(
         "--denormals", options.denormals,
         "keep denormal numbers (below 1.2e-38 in f32), which are flushed to "
         "zero otherwise: up to a hundred times slower if there are any")
      ->group("Compile");
}

/// An option with a list of names separated by commas.
static void addNames(CLI::App &app, const char *flag,
                     std::vector<std::string> &values, const char *help,
                     const char *type) {
  app.add_option(flag, values, help)
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name(type)
      ->group("Rewrites");
}

void addPatterns(CLI::App &app, CommonOptions &options) {
  const auto list = [&](const char *flag, std::vector<std::string> &values,
                        const char *help, const char *type) {
    addNames(app, flag, values, help, type);
  };
  list("--disable-patterns", options.disabledPatterns,
       "disable these rewrites; all: every one (optimize --list-patterns "
       "prints them)",
       "LABEL,...");
  list("--enable-patterns", options.enabledPatterns,
       "enable these rewrites, which are off by default", "LABEL,...");
  list("--allow", options.allowed,
       "what rewrites may assume of floats: reassociate, contract, reciprocal, "
       "nonan, noinf, nosignedzero, or all of these; requantize: rescaled "
       "values may change by one unit (in a file that spells them out, as "
       "--raise-quantized does it)",
       "NAME,...");
}

void addPasses(CLI::App &app, CommonOptions &options) {
  addPatterns(app, options);
  app.add_flag("--verify-numerics{passes}", options.verifyNumerics,
               "check every pass against the interpreter; =each: every single "
               "rewrite")
      ->check(CLI::IsMember({"passes", "each"}))
      ->group("Rewrites");
  addNames(
      app, "--print-ir-after", options.printIrAfter,
      "print the graph to standard error after these passes (all: every one)",
      "PASS,...");
}

void addCache(CLI::App &app, CommonOptions &options) {
  app.add_option("--cache-dir", options.cacheFolder,
                 "where to keep compiled programs (default: "
                 "$XDG_CACHE_HOME/sinter, or ~/.cache/sinter)")
      ->type_name("DIR")
      ->group("Compile");
  app.add_flag("--no-cache", options.noCache, "do not use the cache")
      ->group("Compile");
}

std::string cacheFolder(const CommonOptions &options) {
  if (options.noCache)
    return "";
  std::string folder =
      options.cacheFolder.empty() ? defaultCacheFolder() : options.cacheFolder;
  Result<void> own = checkCacheFolder(folder);
  if (own)
    return folder;
  static std::once_flag told;
  std::call_once(told, [&] {
    options.note(own.error().message() + "; the cache is not used");
  });
  return "";
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
         "tolerance relative to the tensor's largest magnitude");
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
  app.add_flag(
         "--force", force,
         "let the output replace the model itself, or a file with its weights")
      ->group("Output");
}

void addOverwrite(CLI::App &app, OverwriteOptions &options) {
  addForce(app, options.force);
  app.add_flag("--in-place", options.inPlace,
               "replace the model itself, or its folder: the output is written "
               "beside it and renamed")
      ->group("Output");
}

/// Parses "1x3x?" as the shape of \p input; "" is a scalar.
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

/// Parses "batch=2,sequence=16"; nothing for other texts.
static std::optional<std::vector<std::pair<std::string, int64_t>>>
parseSizes(const std::string &text) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string &each : partsOf(text, ',')) {
    const size_t equals = each.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return std::nullopt;
    const std::optional<int64_t> size = parseSize(each.substr(equals + 1));
    if (!size)
      return std::nullopt;
    sizes.emplace_back(each.substr(0, equals), *size);
  }
  return sizes;
}

Result<GivenShapes> parseShapes(const std::vector<std::string> &texts) {
  GivenShapes given;
  for (const std::string &entry : texts) {
    if (const auto sizes = parseSizes(entry)) {
      for (const auto &[symbol, size] : *sizes)
        if (!given.sizes.emplace(symbol, size).second)
          return usageError(optionText("shape") + ": '" + symbol +
                            "' is given twice");
      continue;
    }
    const size_t colon = entry.rfind(':');
    const std::string input = entry.substr(0, colon);
    if (given.shapes.contains(input))
      return usageError(optionText("shape") + ": '" + input +
                        "' is given twice");
    if (colon == std::string::npos || colon == 0 ||
        !parseShape(input, std::string_view(entry).substr(colon + 1), given))
      return usageError(optionText("shape") + " '" + entry +
                        "': expected sizes of dimensions by name, as in "
                        "batch=2,sequence=16, or an input's name and its "
                        "shape, as in x:1x3x224x224");
  }
  return given;
}

Result<NamedShapes> shapesFor(const CommonOptions &options,
                              const ModelDescription &model) {
  Result<GivenShapes> given = parseShapes(options.shapes);
  if (!given)
    return given.takeError();
  Result<NamedShapes> shapes =
      withSizes(model, given->sizes, given->shapes, "shape");
  if (!shapes)
    return inFile(shapes.takeError(), options.model);
  return shapes;
}

Result<SizeBounds> parseBounds(const std::vector<std::string> &texts) {
  SizeBounds bounds;
  for (const std::string &text : texts) {
    const size_t equals = text.rfind('=');
    const std::optional<int64_t> most =
        equals == std::string::npos ? std::nullopt
                                    : parseSize(text.substr(equals + 1));
    if (!most || equals == 0)
      return usageError(optionText("max") + " '" + text +
                        "': expected a dimension's name and its largest size, "
                        "as in sequence=512");
    if (!bounds.emplace(text.substr(0, equals), *most).second)
      return usageError(optionText("max") + ": '" + text.substr(0, equals) +
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
  passes.note = options.note;
  return passes;
}

static Result<OpenOptions> openOptions(const CommonOptions &options) {
  OpenOptions opening;
  opening.parameters = options.parameters;
  const std::string &text = options.randomParameters;
  if (text.empty())
    return opening;
  if (!opening.parameters.empty())
    return usageError(optionText("params") + " and " +
                      optionText("random-parameters") + " exclude each other");
  uint64_t seed = 0;
  const char *end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, seed);
      error != std::errc() || stop != end)
    return usageError(optionText("random-parameters") + ": '" + text +
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
  const auto describe = [&] {
    SessionOptions described;
    described.shapes = given->shapes;
    described.dimensionNames = given->names;
    described.function = options.function;
    described.opening = *opening;
    described.cacheFolder = cacheFolder(options);
    return Session::open(options.model, std::move(described));
  };
  // Only the model says which inputs have a dimension.
  if (!given->sizes.empty()) {
    auto session = describe();
    if (!session)
      return session.takeError();
    Result<NamedShapes> shapes =
        withSizes((*session)->model(), given->sizes, given->shapes, "shape");
    if (!shapes)
      return inFile(shapes.takeError(), options.model);
    given->shapes = std::move(*shapes);
  }
  Result<Bindings> bound = readBindings(options.bound, describe);
  if (!bound)
    return bound.takeError();
  return ModelRequest{options.model,
                      std::move(given->shapes),
                      std::move(bound->arrays),
                      options.function,
                      options.note,
                      std::move(*opening),
                      std::move(given->names),
                      {},
                      std::move(bound->files)};
}

CodeOptions codeOptions(const CommonOptions &options) {
  CodeOptions code;
  code.precision = precisionNamed(options.precision).value();
  code.cpu = options.cpu;
  code.features = options.features;
  code.denormals = options.denormals ? Denormals::Keep : Denormals::Flush;
  return code;
}

Result<SessionOptions> sessionOptions(const CommonOptions &options) {
  SessionOptions session;
  Result<ModelRequest> model = modelRequest(options);
  if (!model)
    return model.takeError();
  session.shapes = std::move(model->shapes);
  session.dimensionNames = std::move(model->dimensionNames);
  session.bound = std::move(model->bound);
  session.boundFiles = std::move(model->boundFiles);
  session.function = options.function;
  session.opening = std::move(model->opening);
  session.backend =
      options.backend == "cpu" ? Backend::Cpu : Backend::Interpreter;
  session.mayInterpret = options.mayInterpret;
  session.threads = options.threads;
  session.dynamicSizes = options.isStatic          ? DynamicSizes::None
                         : options.dynamic.empty() ? options.dynamicSizes
                                                   : DynamicSizes::Wanted;
  if (!options.dynamic.empty() && options.dynamic != "*")
    session.dynamic = partsOf(options.dynamic, ',');
  Result<SizeBounds> most = parseBounds(options.most);
  if (!most)
    return most.takeError();
  session.most = std::move(*most);
  static_cast<CodeOptions &>(session) = codeOptions(options);
  session.cacheFolder = cacheFolder(options);
  session.ceilings = keptCeilings(session.cacheFolder, options.note);
  session.passes = passOptions(options);
  session.note = options.note;
  return session;
}

} // namespace sinter
