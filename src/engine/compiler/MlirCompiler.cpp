//===- MlirCompiler.cpp - open, convert, interpret ------------------------===//

#include "engine/compiler/MlirCompiler.h"

#include "engine/compiler/OnnxSource.h"
#include "engine/compiler/Simplification.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "formats/stablehlo/vhlo/Version.h"
#include "interpreter/InterpreterExecutor.h"
#include "runtime/MappedFile.h"

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

/// The extensions of portable artifacts.
static bool isArtifactName(StringRef path) {
  return path.ends_with(".mlir.bc") || path.ends_with(".stablehlo") ||
         path.ends_with(".mlirbc");
}

Result<void> checkOutputName(const std::string &path) {
  const StringRef name(path);
  if (name.ends_with(".onnx") || name.ends_with(".mlir") ||
      isArtifactName(name))
    return {};
  return usageError("'" + path +
                    "': the extension says in which format to write: .onnx, "
                    ".mlir (text), .mlir.bc or .stablehlo (portable artifact)");
}

Result<void> writeModel(const Model &model, const std::string &path,
                        const std::string &targetVersion) {
  const StringRef name(path);
  if (isArtifactName(name))
    return writeStablehlo(model, path, StablehloForm::Artifact, targetVersion);
  if (name.ends_with(".onnx"))
    return writeOnnx(model, path);
  if (name.ends_with(".mlir"))
    return writeStablehlo(model, path);
  return checkOutputName(path);
}

Result<void> checkOverwrite(const std::string &path,
                            const ModelDescription &model,
                            const std::string &output) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> files;
  if (fs::is_directory(path, ignored)) {
    for (fs::recursive_directory_iterator entry(path, ignored), end;
         !ignored && entry != end; entry.increment(ignored))
      files.push_back(entry->path());
  } else {
    files.emplace_back(path);
    for (const std::string &name : model.dataFiles)
      files.push_back(fs::path(path).parent_path() / name);
  }
  // Large weights go to a second file.
  for (const std::string &written : {output, output + ".data"})
    for (const fs::path &file : files)
      if (fs::equivalent(written, file, ignored))
        return usageError("'" + written + "' is " +
                          (file == fs::path(path) ? "" : "a part of ") +
                          "the model '" + path +
                          "'; --force lets it be replaced");
  return {};
}

Error ofInput(Error error, const std::string &path) {
  return error.kind == ErrorKind::Unsupported ? inFile(std::move(error), path)
                                              : error;
}

Result<Model> readToRewrite(const ModelRequest &request, bool &isOnnx,
                            ToOnnx toOnnx, ModelDescription &description) {
  const std::string &path = request.path;
  if (toOnnx != ToOnnx::No && request.bound.empty() &&
      request.function.empty() && !isStablehloFolder(path)) {
    auto file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    if (!(*file)->bytes().empty() && foreignKind((*file)->text()).empty() &&
        !isStablehlo((*file)->bytes(), path)) {
      isOnnx = true;
      return OnnxSource::readToWrite(path, request.shapes,
                                     toOnnx == ToOnnx::Frozen, description);
    }
  }
  auto source = ModelSource::open(request);
  if (!source)
    return source.takeError();
  isOnnx = (*source)->isOnnx();
  description = (*source)->description();
  return toOnnx == ToOnnx::No ? (*source)->spelledOut() : (*source)->asItIs();
}

Result<void> MlirCompiler::convert(const ConvertRequest &request) {
  const std::string &output = request.output;
  if (Result<void> good = checkOutputName(output); !good)
    return good;
  if (!request.targetVersion.empty() && !isArtifactName(output))
    return usageError("--target-version is for portable artifacts (.mlir.bc or "
                      ".stablehlo), not for '" +
                      output + "'");
  if (!request.targetVersion.empty())
    if (auto version = vhlo::parseTargetVersion(request.targetVersion);
        !version)
      return version.takeError();
  bool isOnnx;
  ModelDescription description;
  Result<Model> model = readToRewrite(
      request.input, isOnnx,
      StringRef(output).ends_with(".onnx") ? ToOnnx::Yes : ToOnnx::No,
      description);
  if (!model)
    return inFile(model.takeError(), request.input.path);
  if (!request.mayOverwrite)
    if (Result<void> good =
            checkOverwrite(request.input.path, description, output);
        !good)
      return good;
  if (Result<void> written = writeModel(*model, output, request.targetVersion);
      !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

Result<std::unique_ptr<Executor>>
MlirCompilerModel::interpret(const CompileRequest &request) {
  Result<Model> model = source->specialized(request.shapes, request.values);
  if (!model)
    return model.takeError();
  // The interpreter needs no passes; but the user may want to watch them.
  const PassOptions &passes = request.passes;
  if (passes.verifyNumerics || passes.verifyEach ||
      !passes.printIrAfter.empty()) {
    Model copy = model->clone();
    if (auto simplified = simplifyWith(copy, passes); !simplified)
      return simplified.takeError();
  }
  auto executor = InterpreterExecutor::create(
      std::make_shared<const Model>(std::move(*model)));
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

} // namespace sinter
