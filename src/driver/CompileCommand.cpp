//===- CompileCommand.cpp - sinter compile --------------------------------===//

#include "bundle/BundleFiles.h"
#include "bundle/Identifiers.h"
#include "bundle/JsonText.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/OutputFiles.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "interface/KeptCeilings.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

namespace fs = std::filesystem;

class CompileCommand : public Command {
public:
  explicit CompileCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option("-o,--output", output,
                   "what to write: FILE.o, FILE.a, FILE.so, FILE.s (assembly) "
                   "or FILE.ll (LLVM IR), with a header beside it; or, without "
                   "an extension, a folder, which also gets an example and a "
                   "description in JSON")
        ->type_name("FILE|DIR")
        ->required();
    app.add_option("--name", name,
                   "what the names of its functions begin with (default: the "
                   "name of the file or, for a folder, of the model)")
        ->type_name("NAME");
    app.add_option("--weights", weights,
                   "code: in the read-only data of the code; file: in a file "
                   "that the program reads or maps, and passes on; c-array: in "
                   "a source of C, NAME_weights.c")
        ->check(CLI::IsMember({"code", "file", "c-array"}))
        ->capture_default_str();
    app.add_option("--target", triple,
                   "the system to compile for, by LLVM's name: "
                   "aarch64-linux-gnu (default: this machine)")
        ->type_name("TRIPLE")
        ->group("Compile");
    app.add_flag("--parallel", isParallel,
                 "take threads from the caller: a function that runs tasks on "
                 "them is an argument")
        ->group("Compile");
    app.add_flag("-g,--debug-info", hasDebugInfo,
                 "debug information, in which the lines of NAME.steps, written "
                 "as well, are those of the code: a line for each node")
        ->group("Compile");
    app.add_flag("--emit-llvm", emitsLlvm, "write the LLVM IR as well, NAME.ll")
        ->group("Compile");
    app.add_flag("--save-temps", savesTemporaries,
                 "write what the code is made of as well: LLVM IR and "
                 "assembly, NAME.ll and NAME.s")
        ->group("Compile");
    app.add_flag("--force", force, "replace files that exist");
    addShapes(app, common);
    addBinding(app, common);
    addArithmetic(app, common);
    // Nothing runs here.
    app.get_option("--threads")
        ->description("threads to compile with (default: 0, one "
                      "for each processor)");
    app.get_option("--cpu")->description(
        "compile for this CPU, by LLVM's name, as x86-64-v3 or cortex-a76 "
        "(default: this one, or with --target any of its architecture)");
    addPatterns(app, common);
    addReport(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    Result<BundleTarget> target = bundleTarget(output);
    if (!target)
      return inside("-o", target.takeError());
    if (Result<void> named = chooseName(*target); !named)
      return named.takeError();
    BundleRequest request;
    if (Result<void> set = setOptions(*target, request.bundle); !set)
      return set.takeError();
    const std::vector<std::string> paths = bundlePaths(*target, request.bundle);
    if (Result<void> free = checkFree(*target, paths); !free)
      return free.takeError();
    Result<Bundle> bundle = compile(request, paths);
    if (!bundle)
      return bundle.takeError();
    if (Result<void> written = write(*bundle, *target); !written)
      return written.takeError();
    report(*bundle, paths);
    return 0;
  }

private:
  Result<void> setOptions(const BundleTarget &target,
                          BundleOptions &options) const {
    options.name = name;
    options.code = target.code;
    options.weights = weights == "file"      ? BundleWeights::InFile
                      : weights == "c-array" ? BundleWeights::InArray
                                             : BundleWeights::InCode;
    options.libraryName = fs::path(output).filename().string();
    options.isParallel = isParallel;
    if (options.weights == BundleWeights::InArray &&
        target.code == BundleCode::SharedLibrary)
      return usageError("--weights: a shared library has its weights in the "
                        "code or in a file");
    if (emitsLlvm || savesTemporaries)
      options.also.push_back(BundleCode::LlvmIr);
    if (savesTemporaries)
      options.also.push_back(BundleCode::Assembly);
    std::erase(options.also, target.code);
    if (hasDebugInfo)
      options.listing = listingPath(target, name);
    return {};
  }

  /// Sets `name` unless the user has.
  Result<void> chooseName(const BundleTarget &target) {
    if (name.empty()) {
      const fs::path named = target.isFolder ? common.model : target.path;
      // A model in a folder has the folder's name.
      const fs::path last = named.has_filename()
                                ? named.filename()
                                : named.parent_path().filename();
      name = bundleNameFrom(target.isFolder ? last.stem().string()
                                            : last.string());
    }
    if (isBundleName(name))
      return {};
    return usageError("--name: '" + name +
                      "' cannot begin names of C: a letter is needed, then up "
                      "to 99 letters, digits and underscores");
  }

  /// Checks that \p paths can be written, and that none exists unless it may be
  /// replaced.
  Result<void> checkFree(const BundleTarget &target,
                         const std::vector<std::string> &paths) const {
    std::error_code ignored;
    if (target.isFolder && fs::exists(target.path, ignored) &&
        !fs::is_directory(target.path, ignored))
      return usageError(
          "-o: '" + target.path +
          "' is no folder; files end with .o, .a, .so, .s or .ll");
    const bool isThere = !target.isFolder || fs::exists(target.path, ignored);
    for (const std::string &path : paths) {
      if (!force && fs::exists(fs::symlink_status(path, ignored)))
        return usageError("-o: '" + path + "' exists; --force replaces it");
      if (isThere)
        if (Result<void> good = checkOutputFile("-o", path, common.model);
            !good)
          return good;
    }
    return {};
  }

  /// Checks that none of \p paths is a file of the model.
  Result<void> checkModelFiles(const ModelDescription &model,
                               const std::vector<std::string> &paths) const {
    const fs::path folder = fs::path(common.model).parent_path();
    for (const std::string &file : model.dataFiles)
      for (const std::string &path : paths) {
        std::error_code ignored;
        if (fs::equivalent(path, folder / file, ignored))
          return usageError("-o: '" + path + "' is a file of the model");
      }
    return {};
  }

  Result<Bundle> compile(BundleRequest &request,
                         const std::vector<std::string> &paths) {
    Result<ModelRequest> input = modelRequest(common);
    if (!input)
      return input.takeError();
    for (const DimensionName &each : input->dimensionNames)
      return usageError("--shape: '" + each.symbol +
                        "' keeps a dimension of '" + each.input +
                        "' dynamic, and `sinter compile` needs a size");
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    auto model = (*compiler)->open(*input);
    if (!model)
      return model.takeError();
    const ModelDescription &description = (*model)->description();
    if (Result<void> apart = checkModelFiles(description, paths); !apart)
      return apart.takeError();
    Result<std::vector<Shape>> shapes =
        bindShapes(description, input->shapes, {}, printNote);
    if (!shapes)
      return inFile(shapes.takeError(), common.model);
    static_cast<CodeOptions &>(request) = codeOptions(common);
    request.triple = triple;
    request.shapes = std::move(*shapes);
    request.values.resize(description.inputs.size());
    request.passes = passOptions(common);
    request.threads = common.threads;
    request.choice = choicePrinter(common);
    request.stages = stageObserver(common);
    request.progress = progressLine("compiling", "kernels");
    if (triple.empty() && common.cpu.empty())
      request.ceilings = keptCeilings(cacheFolder(common), printNote);
    Result<Bundle> bundle = (*model)->bundle(request);
    if (!bundle)
      return inFile(bundle.takeError(), common.model);
    return bundle;
  }

  Result<void> write(const Bundle &bundle, const BundleTarget &target) const {
    if (target.isFolder)
      if (Result<void> made = prepareFolder("-o", target.path); !made)
        return made;
    return writeBundle(bundle, target,
                       fs::path(common.model).filename().string());
  }

  void report(const Bundle &bundle,
              const std::vector<std::string> &paths) const {
    if (common.json) {
      nlohmann::json json = bundleJson(bundle, common.model);
      json["files"] = paths;
      printJsonLine(json);
      return;
    }
    for (const std::string &path : paths)
      printTo(stdout, "wrote %s\n", path.c_str());
    const auto size = [](uint64_t bytes) {
      return bytesText(static_cast<double>(bytes));
    };
    printTo(stdout,
            "code %s, constants %s, weights %s, workspace %s, state "
            "%s, stack at most %s\n",
            size(bundle.codeBytes).c_str(), size(bundle.dataBytes).c_str(),
            size(bundle.weightBytes).c_str(),
            size(bundle.workspaceBytes).c_str(),
            size(bundle.stateBytes).c_str(), size(bundle.stackBytes).c_str());
    std::string externals;
    for (const std::string &symbol : bundle.externals)
      externals += " " + symbol;
    printTo(stdout, "external functions:%s\n",
            externals.empty() ? " none" : externals.c_str());
  }

  CommonOptions common;
  std::string output, name, weights = "code", triple;
  bool force = false, isParallel = false, hasDebugInfo = false;
  bool emitsLlvm = false, savesTemporaries = false;
};

} // namespace

std::unique_ptr<Command> makeCompileCommand(CLI::App &app) {
  return std::make_unique<CompileCommand>(app);
}

} // namespace sinter::driver
