//===- AheadOfTime.cpp - from a model to the files of a bundle ------------===//

#include "interface/AheadOfTime.h"

#include "bundle/BundleFiles.h"
#include "bundle/Identifiers.h"
#include "bundle/JsonText.h"
#include "engine/CompilerLibrary.h"
#include "interface/KeptCeilings.h"
#include "interface/OutputFiles.h"
#include "runtime/OptionNames.h"
#include "runtime/Text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace sinter {

namespace fs = std::filesystem;

static void addTarget(CLI::App &app, AheadOptions &options) {
  app.add_option("--target", options.triple,
                 "the system to compile for, by LLVM's name, as "
                 "aarch64-linux-gnu or thumbv7em-none-eabihf: `sinter targets` "
                 "lists them (default: this machine)")
      ->type_name("TRIPLE")
      ->group("Compile");
  app.add_option("-O", options.goal,
                 "2: fast code; s: small code, with less unrolling, and "
                 "weights that are not transformed")
      ->check(CLI::IsMember({"2", "s"}))
      ->capture_default_str()
      ->group("Compile");
  const auto addCache = [&](const char *option, int64_t &bytes,
                            const char *what) {
    app.add_option(option, bytes, what)
        ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
        ->check(CLI::Range(int64_t(1) << 10, int64_t(1) << 30).description(""))
        ->type_name("SIZE")
        ->group("Compile");
  };
  addCache("--l1", options.l1Bytes,
           "the first data cache of a core, as 32K (default: what `sinter "
           "targets` lists, for x86 what the cost model was fitted with)");
  addCache("--l2", options.l2Bytes, "the second one, or memory that is near");
}

void addAhead(CLI::App &app, AheadOptions &options) {
  app.add_option("--name", options.name,
                 "what the names of its functions begin with (default: the "
                 "name of the file or, for a folder, of the model)")
      ->type_name("NAME");
  app.add_option("--weights", options.weights,
                 "code: in the read-only data of the code; file: in a file "
                 "that the program reads or maps, and passes on; c-array: in "
                 "a source of C, NAME_weights.c")
      ->check(CLI::IsMember({"code", "file", "c-array"}))
      ->capture_default_str();
  addTarget(app, options);
  app.add_option("--entry", options.entries,
                 "an entry point for some sizes, NAME:SIZES with SIZES as of "
                 "--shape (none: those of --shape): b1:batch=1 or "
                 "tile:x:1x3x64x64; its functions begin with the name of the "
                 "bundle, then its own; may be repeated, and all share the "
                 "weights")
      ->allow_extra_args(false)
      ->type_name("NAME:SIZES")
      ->group("Input");
  app.add_option("--max", options.most,
                 "the largest sizes of dynamic dimensions, as in "
                 "N=64,sequence=512: the header has the memory for them, and "
                 "larger sizes are refused")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME=SIZE,...")
      ->group("Input");
  app.add_flag("--parallel", options.isParallel,
               "take threads from the caller: a function that runs tasks on "
               "them is an argument")
      ->group("Compile");
  app.add_flag("--with-runtime", options.mayCallRuntime,
               "let the code call libsinter for what has no kernel, as Fourier "
               "transforms, solvers and random numbers: it is linked then")
      ->group("Compile");
  app.add_flag("-g,--debug-info", options.hasDebugInfo,
               "debug information, in which the lines of NAME.steps, written "
               "as well, are those of the code: a line for each node")
      ->group("Compile");
  app.add_flag("--emit-llvm", options.emitsLlvm,
               "write the LLVM IR as well, NAME.ll")
      ->group("Compile");
  app.add_flag("--save-temps", options.savesTemporaries,
               "write what the code is made of as well: LLVM IR and "
               "assembly, NAME.ll and NAME.s")
      ->group("Compile");
  app.add_flag("--force", options.force, "replace files that exist");
}

namespace {

/// A call of compileAhead().
class AheadCompilation {
public:
  AheadCompilation(const CommonOptions &common, AheadOptions options,
                   BundleRequest request, const char *flag)
      : common(common), options(std::move(options)),
        request(std::move(request)), flag(flag) {}

  Result<WrittenBundle> run() {
    Result<BundleTarget> found = bundleTarget(options.output);
    if (!found)
      return inside(flag, found.takeError());
    target = std::move(*found);
    if (Result<void> set = setOptions(); !set)
      return set.takeError();
    paths = bundlePaths(target, request.bundle);
    if (Result<void> free = checkFree(); !free)
      return free.takeError();
    Result<Bundle> bundle = compile();
    if (!bundle)
      return bundle.takeError();
    if (target.isFolder)
      if (Result<void> made = prepareFolder(flag, target.path); !made)
        return made.takeError();
    if (Result<void> written = writeBundle(
            *bundle, target, fs::path(common.model).filename().string());
        !written)
      return written.takeError();
    return WrittenBundle{std::move(*bundle), std::move(paths)};
  }

private:
  Result<std::string> chosenName() const;
  Result<void> setOptions();
  Result<void> checkFree() const;
  Result<void> checkModelFiles(const ModelDescription &model) const;
  Result<Bundle> compile();
  bool hasSizes() const;
  Result<void> setSizes(const ModelDescription &model,
                        const NamedShapes &given);
  Result<BundleRequest::Entry> entryOf(const std::string &text,
                                       const ModelDescription &model) const;
  Result<void> setShapes(const ModelDescription &model,
                         const NamedShapes &given,
                         BundleRequest::Entry &entry) const;

  const CommonOptions &common;
  const AheadOptions options;
  BundleRequest request;
  const char *flag;
  BundleTarget target;
  std::vector<std::string> paths;
};

} // namespace

Result<std::string> AheadCompilation::chosenName() const {
  std::string name = options.name;
  if (name.empty()) {
    const fs::path named = target.isFolder ? common.model : target.path;
    // A model in a folder has the folder's name.
    const fs::path last = named.has_filename() ? named.filename()
                                               : named.parent_path().filename();
    name =
        bundleNameFrom(target.isFolder ? last.stem().string() : last.string());
  }
  if (isBundleName(name))
    return name;
  return usageError("--name: '" + name +
                    "' cannot begin names of C: a letter is needed, then up to "
                    "99 letters, digits and underscores");
}

Result<void> AheadCompilation::setOptions() {
  Result<std::string> name = chosenName();
  if (!name)
    return name.takeError();
  BundleOptions &bundle = request.bundle;
  bundle.name = std::move(*name);
  bundle.code = target.code;
  bundle.weights = options.weights == "file"      ? BundleWeights::InFile
                   : options.weights == "c-array" ? BundleWeights::InArray
                                                  : BundleWeights::InCode;
  bundle.libraryName = fs::path(options.output).filename().string();
  bundle.isParallel = options.isParallel;
  bundle.mayCallRuntime = options.mayCallRuntime;
  if (bundle.weights == BundleWeights::InArray &&
      target.code == BundleCode::SharedLibrary)
    return usageError("--weights: a shared library has its weights in the code "
                      "or in a file");
  if (options.emitsLlvm || options.savesTemporaries)
    bundle.also.push_back(BundleCode::LlvmIr);
  if (options.savesTemporaries)
    bundle.also.push_back(BundleCode::Assembly);
  std::erase(bundle.also, target.code);
  if (options.hasDebugInfo)
    bundle.listing = listingPath(target, bundle.name);
  return {};
}

/// Checks that the files can be written, and that none exists unless it may be
/// replaced.
Result<void> AheadCompilation::checkFree() const {
  std::error_code ignored;
  if (target.isFolder && fs::exists(target.path, ignored) &&
      !fs::is_directory(target.path, ignored))
    return usageError(std::string(flag) + ": '" + target.path +
                      "' is no folder; files end with .o, .a, .so, .s or .ll");
  const bool isThere = !target.isFolder || fs::exists(target.path, ignored);
  for (const std::string &path : paths) {
    if (!options.force && fs::exists(fs::symlink_status(path, ignored)))
      return usageError(std::string(flag) + ": '" + path +
                        "' exists; --force replaces it");
    if (isThere)
      if (Result<void> good = checkOutputFile(flag, path, common.model); !good)
        return good;
  }
  return {};
}

/// Checks that none of the files is one of the model.
Result<void>
AheadCompilation::checkModelFiles(const ModelDescription &model) const {
  const fs::path folder = fs::path(common.model).parent_path();
  for (const std::string &file : model.dataFiles)
    for (const std::string &path : paths) {
      std::error_code ignored;
      if (fs::equivalent(path, folder / file, ignored))
        return usageError(std::string(flag) + ": '" + path +
                          "' is a file of the model");
    }
  return {};
}

Result<Bundle> AheadCompilation::compile() {
  Result<ModelRequest> input = modelRequest(common);
  if (!input)
    return input.takeError();
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  auto model = (*compiler)->open(*input);
  if (!model)
    return model.takeError();
  const ModelDescription &description = (*model)->description();
  if (Result<void> apart = checkModelFiles(description); !apart)
    return apart.takeError();
  if (Result<void> set = setSizes(description, input->shapes); !set)
    return inFile(set.takeError(), common.model);
  static_cast<CodeOptions &>(request) = codeOptions(common);
  request.triple = options.triple;
  request.changes = {options.l1Bytes, options.l2Bytes, options.goal == "s"};
  request.values.resize(description.inputs.size());
  const auto cancellation = request.passes.cancellation;
  request.passes = passOptions(common);
  request.passes.cancellation = cancellation;
  request.threads = common.threads;
  if (options.triple.empty() && common.cpu.empty())
    request.ceilings = keptCeilings(cacheFolder(common), common.note);
  Result<Bundle> bundle = (*model)->bundle(request);
  if (bundle)
    return bundle;
  Error error = inFile(bundle.takeError(), common.model);
  return hasSizes() && error.kind == ErrorKind::Unsupported &&
                 error.hint.empty()
             ? withHint(optionText("shape") +
                            " compiles it for given sizes of its dynamic "
                            "dimensions",
                        std::move(error))
             : error;
}

/// Whether some entry point has sizes as arguments.
bool AheadCompilation::hasSizes() const {
  return std::ranges::any_of(
      request.entries,
      [](const BundleRequest::Entry &entry) { return !entry.dynamic.empty(); });
}

/// Sets the bounds of sizes and the sizes of each entry point, which keep to
/// them.
Result<void> AheadCompilation::setSizes(const ModelDescription &model,
                                        const NamedShapes &given) {
  Result<SizeBounds> bounds = parseBounds(options.most);
  if (!bounds)
    return bounds.takeError();
  if (Result<void> known = checkBoundNames(model, *bounds); !known)
    return known;
  request.bundle.most = std::move(*bounds);
  if (options.entries.empty()) {
    BundleRequest::Entry &only = request.entries.emplace_back();
    return setShapes(model, given, only);
  }
  for (const std::string &text : options.entries) {
    Result<BundleRequest::Entry> entry = entryOf(text, model);
    if (!entry)
      return inside(optionText("entry") + " " + oneLine(text),
                    entry.takeError());
    request.entries.push_back(std::move(*entry));
  }
  return {};
}

/// The entry point of one --entry; not one of those that are there.
Result<BundleRequest::Entry>
AheadCompilation::entryOf(const std::string &text,
                          const ModelDescription &model) const {
  const size_t colon = text.find(':');
  BundleRequest::Entry entry;
  entry.name = text.substr(0, colon);
  if (!isBundleName(entry.name))
    return usageError("expected a name for functions, a colon, and sizes, as "
                      "in b8:batch=8");
  // No two macros of the header may have one name.
  const std::string own = capitals(entry.name) + "_";
  if (own.starts_with("STATE_"))
    return usageError("its name begins with that of the states");
  for (const BundleRequest::Entry &other : request.entries) {
    const std::string its = capitals(other.name) + "_";
    if (own.starts_with(its) || its.starts_with(own))
      return usageError("its name begins with that of '" + other.name +
                        "', or that with its own");
  }
  CommonOptions all = common;
  if (colon != std::string::npos && colon + 1 < text.size())
    for (std::string &part : partsOf(text.substr(colon + 1), ','))
      all.shapes.push_back(std::move(part));
  Result<NamedShapes> shapes = shapesFor(all, model);
  if (!shapes)
    return shapes.takeError();
  if (Result<void> set = setShapes(model, *shapes, entry); !set)
    return set.takeError();
  return entry;
}

/// Sets the shapes of \p entry, dynamic ones if sizes stay unknown.
Result<void> AheadCompilation::setShapes(const ModelDescription &model,
                                         const NamedShapes &given,
                                         BundleRequest::Entry &entry) const {
  Result<std::vector<Shape>> known = knownShapes(model, given, {});
  if (!known)
    return known.takeError();
  if (Result<void> within = checkBounds(model, request.bundle.most, *known);
      !within)
    return within;
  const bool hasUnknown = std::ranges::any_of(*known, [](const Shape &shape) {
    return std::ranges::find(shape, -1) != shape.end();
  });
  (hasUnknown ? entry.dynamic : entry.shapes) = std::move(*known);
  return {};
}

Result<WrittenBundle> compileAhead(const CommonOptions &common,
                                   AheadOptions options, BundleRequest request,
                                   const char *flag) {
  return AheadCompilation(common, std::move(options), std::move(request), flag)
      .run();
}

nlohmann::json asJson(const WrittenBundle &written, const std::string &model) {
  nlohmann::json json = bundleJson(written.bundle, model);
  json["files"] = written.paths;
  return json;
}

} // namespace sinter
