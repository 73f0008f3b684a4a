//===- MlirCompiler.cpp - open, convert, interpret ------------------------===//

#include "engine/compiler/MlirCompiler.h"

#include "backend/cpu/cost/MeasureMachine.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "engine/compiler/FindFormat.h"
#include "engine/compiler/ObservedValues.h"
#include "engine/compiler/Simplification.h"
#include "graph/Metadata.h"
#include "interpreter/InterpreterExecutor.h"
#include "runtime/OptionNames.h"

#include <filesystem>

using namespace mlir;

namespace sinter {

Result<std::unique_ptr<CompilerModel>>
MlirCompiler::open(const ModelRequest &request) {
  auto source = ModelSource::open(request);
  if (!source)
    return source.takeError();
  if (Result<void> described = (*source)->describe(); !described)
    return described.takeError();
  return std::unique_ptr<CompilerModel>(
      std::make_unique<MlirCompilerModel>(std::move(*source)));
}

Result<void> writeModel(const Model &model, const std::string &path,
                        const WriteOptions &options) {
  Result<WrittenForm> form = writtenForm(path);
  if (!form)
    return form.takeError();
  return form->format->write(model, path, options);
}

Result<void> checkOverwrite(const std::string &path,
                            const ModelDescription &model,
                            const std::string &output, Overwrite allowed) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> files;
  const bool isFolder =
      fs::is_directory(path, ignored) || output.ends_with('/');
  if (allowed == Overwrite::Anything ||
      (allowed == Overwrite::Files && !isFolder))
    return {};
  if (fs::is_directory(path, ignored)) {
    for (fs::recursive_directory_iterator entry(path, ignored), end;
         !ignored && entry != end; entry.increment(ignored))
      files.push_back(entry->path());
  } else {
    files.emplace_back(path);
    for (const std::string &name : model.dataFiles)
      files.push_back(fs::path(path).parent_path() / name);
  }
  if (output.ends_with('/'))
    files.push_back(fs::is_directory(path, ignored)
                        ? fs::path(path)
                        : fs::absolute(path, ignored).parent_path());
  std::vector<std::string> outputs = {output};
  if (Result<WrittenForm> form = writtenForm(output);
      form && form->format->besides)
    for (std::string &each : form->format->besides(output))
      outputs.push_back(std::move(each));
  for (const std::string &written : outputs)
    for (const fs::path &file : files)
      if (fs::equivalent(written, file, ignored))
        return withHint(
            optionText(isFolder ? "in-place" : "force") +
                " lets it be replaced",
            usageError("'" + written + "' is " +
                       (file == fs::path(path) ? "" : "a part of ") +
                       "the model '" + path + "'"));
  return {};
}

Error ofInput(Error error, const std::string &path) {
  return error.kind == ErrorKind::Unsupported ? inFile(std::move(error), path)
                                              : error;
}

Result<ModelToRewrite> readToRewrite(const ModelRequest &request,
                                     const Format *to,
                                     const RewriteOptions &options) {
  Result<const Format *> format = findFormat(request.path);
  if (!format)
    return format.takeError();
  const bool staysInFormat = !to || to == *format;
  ModelRequest input = request;
  input.keepsSource = staysInFormat;
  auto source = ModelSource::open(input);
  if (!source)
    return source.takeError();
  Result<TranslatedGraph> graph = (*source)->translate(
      {.kind = staysInFormat ? GraphKind::OwnFormat : GraphKind::OtherFormat,
       .rewrite = options});
  if (!graph)
    return graph.takeError();
  Result<FileCounts> counts = (*source)->counts();
  if (!counts)
    return counts.takeError();
  const Format &written = to ? *to : **format;
  if (!request.metadata.empty() && !written.hasMetadata && request.note)
    request.note("a file of " + written.title.str() +
                 " has no place for metadata: '" +
                 request.metadata.front().first + "' is left out");
  const ModuleOp module = graph->model.module();
  for (const auto &[name, text] : request.metadata)
    setMetadata(module, name, text);
  return ModelToRewrite{std::move(graph->model), *format,
                        (*source)->description(), std::move(*counts)};
}

Result<void> MlirCompiler::convert(const ConvertRequest &request) {
  const std::string &output = request.output;
  Result<WrittenForm> form = writtenForm(output);
  if (!form)
    return form.takeError();
  if (Result<void> good = checkTargetVersion(output, request.targetVersion);
      !good)
    return good;
  Result<ModelToRewrite> read = readToRewrite(request.input, form->format);
  if (!read)
    return inFile(read.takeError(), request.input.path);
  if (Result<void> good = checkOverwrite(request.input.path, read->description,
                                         output, request.overwrite);
      !good)
    return good;
  if (read->format != form->format && !form->format->hasQuantizedTypes)
    if (Result<void> raised = raiseQuantizeOperators(read->model); !raised)
      return raised;
  if (Result<void> written = writeModel(
          read->model, output, {.targetVersion = request.targetVersion});
      !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

std::vector<FormatDescription> MlirCompiler::formats() {
  std::vector<FormatDescription> list;
  for (const Format *format : allFormats())
    for (const Extension &each : format->extensions)
      list.push_back({each.suffix.str(), each.holdsTests, each.isListed});
  return list;
}

bool MlirCompiler::isModelFolder(const std::string &path) {
  return formatOf(path, {}) != nullptr;
}

std::string MlirCompiler::outputFor(const std::string &input,
                                    const std::string &output) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (output.empty() || output.ends_with('/') ||
      !fs::is_directory(input, ignored) ||
      (writtenForm(output) && !fs::is_directory(output, ignored)))
    return output;
  const Format *format = formatOf(input, {});
  const bool isFolder =
      format && llvm::any_of(format->extensions, [](const Extension &each) {
        return each.suffix == "/";
      });
  return isFolder ? output + "/" : output;
}

Result<MachineCeilings> MlirCompiler::measureMachine(double seconds) {
  return cpu::measureMachine(seconds);
}

static Result<std::unique_ptr<Executor>> executorOf(Model model) {
  auto executor = InterpreterExecutor::create(
      std::make_shared<const Model>(std::move(model)));
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

/// The optimised model with dynamic dimensions.
Result<std::unique_ptr<Executor>>
MlirCompilerModel::interpretDynamic(const CompileRequest &request) {
  Result<Model> model = modelFor(request);
  if (!model)
    return model.takeError();
  if (auto rewritten = rewriteForKernels(*model, request.passes); !rewritten)
    return rewritten.takeError();
  return executorOf(std::move(*model));
}

/// Whether all tensors of \p model are static, given \p known.
static bool hasAllSizes(const Model &model, const SpecializeOptions &known) {
  Model copy = model.clone();
  if (!specializeForPasses(copy, known))
    return false;
  mlir::func::FuncOp entry = copy.entry();
  return entry && !cpu::hasUnknownSizes(entry);
}

Result<MlirCompilerModel::ModelForValues>
MlirCompilerModel::modelForValues(const CompileRequest &request,
                                  bool needsSizes) {
  SpecializeOptions known = knownOf(request);
  Result<TranslatedGraph> graph = translate(GraphKind::Static, request);
  if (graph ? !needsSizes || hasAllSizes(graph->model, known)
            : graph.error().kind != ErrorKind::Unsupported)
    return graph ? Result<ModelForValues>({std::move(graph->model), known})
                 : graph.takeError();
  Result<TranslatedGraph> read = translate(GraphKind::AnyValues, request);
  if (read) {
    known.leavesDynamic = read->hasDynamicSizes;
    return ModelForValues{std::move(read->model), known};
  }
  // The reason for waiting says more than that a node cannot be expanded.
  return graph ? Result<ModelForValues>({std::move(graph->model), known})
               : graph.takeError();
}

Result<std::unique_ptr<Executor>>
MlirCompilerModel::interpret(const CompileRequest &given) {
  CompileRequest request = given;
  // Passes for dynamic dimensions.
  if (request.interpretsRewritten && !request.dynamic.empty()) {
    auto executor = interpretDynamic(request);
    if (executor || executor.error().kind == ErrorKind::WrongResult)
      return executor;
    if (request.onStatic)
      request.onStatic(executor.error().message());
  }
  request.dynamic.clear();
  Result<ModelForValues> read =
      modelForValues(request, /*needsSizes=*/!request.observed.empty());
  if (!read)
    return read.takeError();
  Model &model = read->model;
  // The interpreter needs no passes; but the user may want to watch them.
  const PassOptions &passes = request.passes;
  if (passes.verifyNumerics || passes.verifyEach ||
      !passes.printIrAfter.empty()) {
    Model copy = model.clone();
    if (auto simplified = simplifyWith(copy, passes); !simplified)
      return simplified.takeError();
  }
  if (!request.observed.empty() || request.interpretsRewritten) {
    if (Result<void> ready = specializeForPasses(model, read->known); !ready)
      return ready.takeError();
    ObservedValues observed(model, request.observed);
    if (request.interpretsRewritten)
      if (auto rewritten = rewriteForKernels(model, passes, observed.watcher());
          !rewritten)
        return rewritten.takeError();
    observed.insertProbes(model);
  }
  return executorOf(std::move(model));
}

} // namespace sinter
