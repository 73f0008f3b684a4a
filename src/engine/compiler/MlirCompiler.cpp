//===- MlirCompiler.cpp - open, convert, interpret ------------------------===//

#include "engine/compiler/MlirCompiler.h"

#include "engine/compiler/Simplification.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "interpreter/InterpreterExecutor.h"
#include "runtime/MappedFile.h"
#include <map>

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

Error ofInput(Error error, const std::string &path) {
  return error.kind == ErrorKind::Unsupported ? inFile(std::move(error), path)
                                              : error;
}

Result<void> MlirCompiler::convert(const ConvertRequest &request) {
  const std::string &output = request.output;
  if (Result<void> good = checkOutputName(output); !good)
    return good;
  if (!request.targetVersion.empty() && !isArtifactName(output))
    return usageError("--target-version is for portable artifacts (.mlir.bc or "
                      ".stablehlo), not for '" +
                      output + "'");
  auto source = ModelSource::open(request.input);
  if (!source)
    return source.takeError();
  Result<Model> model = (*source)->asItIs();
  if (!model)
    return inFile(model.takeError(), request.input.path);
  if (Result<void> written = writeModel(*model, output, request.targetVersion);
      !written)
    return ofInput(written.takeError(), request.input.path);
  return {};
}

Counts countOperations(const Model &model) {
  std::map<std::string, int64_t> counts;
  model.module().walk([&](Operation *op) {
    if (!isa<ModuleOp, func::FuncOp, func::ReturnOp, stablehlo::ReturnOp,
             stablehlo::ConstantOp>(op))
      ++counts[op->getName().getStringRef().str()];
  });
  return {counts.begin(), counts.end()};
}

Result<GraphFacts> MlirCompilerModel::facts() {
  Result<Model> model = source->asItIs();
  if (!model)
    return model.takeError();
  GraphFacts facts;
  model->module().walk([&](stablehlo::ConstantOp constant) {
    const auto type = cast<ShapedType>(constant.getType());
    const std::optional<ElementType> element =
        elementTypeOf(type.getElementType());
    facts.parameters += type.getNumElements();
    if (element)
      facts.parameterBytes +=
          type.getNumElements() * static_cast<int64_t>(byteSize(*element));
  });
  facts.operations = countOperations(*model);
  Result<Storage> storage = Storage::of(*model);
  if (!storage)
    return storage.takeError();
  for (const StateTensor &state : storage->states())
    facts.state.push_back(state.spec);
  return facts;
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
