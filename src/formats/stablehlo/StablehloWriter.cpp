//===- StablehloWriter.cpp - write StableHLO text -------------------------===//

#include "formats/stablehlo/StablehloWriter.h"

#include "formats/import/Unsupported.h"
#include "formats/stablehlo/ShapeOperations.h"
#include "formats/stablehlo/vhlo/ArtifactWriter.h"
#include "graph/Constants.h"
#include "graph/Source.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/nn/NnDeferred.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/RegionAssembly.h"
#include "mlir/IR/AsmState.h"
#include "runtime/MappedFile.h"
#include <map>

using namespace mlir;

namespace sinter {

/// The tensors' bytes into the attributes: what shares a mapped file cannot be
/// written as it is.
static void inlineConstants(ModuleOp module) {
  module.walk([](stablehlo::ConstantOp constant) {
    if (!isa<DenseResourceElementsAttr>(constant.getValue()))
      return;
    if (std::optional<Tensor> tensor = toTensor(constant.getValue()))
      constant.setValueAttr(toDenseAttribute(*tensor, constant.getContext()));
  });
}

/// \p value with the type that those who read it were promised: a decomposition
/// may know less of sizes than was written, or more.
static Value withType(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return builder.create<stablehlo::ConvertOp>(value.getLoc(), type, value);
}

/// How a message names an operation that has no form.
static std::string describe(Operation *op) {
  if (auto deferred = dyn_cast<nn::DeferredOp>(op))
    return (deferred.getKind() + " (" + deferred.getReason() + ")").str();
  return op->getName().getStringRef().str();
}

/// Replaces `nn` operations by `stablehlo` ones, and theirs again where a
/// decomposition has some.
static Result<void> decompose(const Model &model) {
  while (true) {
    SmallVector<Operation *> structured;
    model.module().walk([&](Operation *op) {
      if (isa_and_nonnull<nn::NnDialect>(op->getDialect()))
        structured.push_back(op);
    });
    if (structured.empty())
      return {};
    std::map<std::string, int64_t> failed;
    for (Operation *op : structured) {
      auto decomposable = dyn_cast<DecomposableOpInterface>(op);
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> values = failure();
      if (decomposable)
        values = decomposable.decompose(builder);
      if (mlir::failed(values)) {
        ++failed[describe(op)];
        continue;
      }
      builder.setInsertionPoint(op);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
        result.replaceAllUsesWith(withType(builder, value, result.getType()));
      SmallVector<Value> operands(op->getOperands());
      op->erase();
      // A decomposition may see through the reshape of an operand.
      for (Value operand : operands)
        if (auto reshape = operand.getDefiningOp<stablehlo::ReshapeOp>();
            reshape && reshape->use_empty())
          reshape.erase();
    }
    if (failed.empty())
      continue;
    return unsupported(model.path + ": not to be expressed in StableHLO: " +
                       formats::listOf(failed) +
                       "; --shape may help where dimensions are unknown");
  }
}

static Result<std::string> artifactOf(const Model &model,
                                      const std::string &targetVersion) {
  Result<vhlo::Version> version = vhlo::currentVersion;
  if (!targetVersion.empty())
    version = vhlo::parseTargetVersion(targetVersion);
  if (!version)
    return version.takeError();
  Result<std::string> artifact = vhlo::writeArtifact(model.module(), *version);
  if (artifact)
    return artifact;
  Error error = artifact.takeError();
  error.message = model.path + ": " + error.message;
  return error;
}

/// The short form where every StableHLO tool reads it.
static OpPrintingFlags flagsFor(ModuleOp module) {
  OpPrintingFlags flags;
  const bool isShort = !module
                            ->walk([](stablehlo::WhileOp loop) {
                              return stablehlo::hasOneTypePerValue(loop)
                                         ? WalkResult::advance()
                                         : WalkResult::interrupt();
                            })
                            .wasInterrupted();
  return isShort ? flags : flags.printGenericOpForm();
}

Result<std::string> stablehloBytes(const Model &model, StablehloForm form,
                                   const std::string &targetVersion) {
  const Model copy = model.clone();
  dropSources(copy.module());
  if (Result<void> done = decompose(copy); !done)
    return done.takeError();
  if (form == StablehloForm::Artifact) {
    if (hasIndexCasts(copy.module()))
      return unsupported(model.path +
                         ": takes or gives indices that are converted, for "
                         "which portable artifacts have no operation; write "
                         ".mlir, or use integers");
    return artifactOf(copy, targetVersion);
  }
  inlineConstants(copy.module());
  writeIndexCasts(copy.module());
  std::string text;
  llvm::raw_string_ostream stream(text);
  copy.module().print(stream, flagsFor(copy.module()));
  stream << "\n";
  return text;
}

Result<void> writeStablehlo(const Model &model, const std::string &path,
                            StablehloForm form,
                            const std::string &targetVersion) {
  Result<std::string> bytes = stablehloBytes(model, form, targetVersion);
  if (!bytes)
    return bytes.takeError();
  return writeFileAtomically(path, *bytes);
}

} // namespace sinter
