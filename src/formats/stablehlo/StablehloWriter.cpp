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
#include "runtime/OptionNames.h"
#include <map>

using namespace mlir;

namespace sinter {

/// Copies the tensors' bytes into the attributes: attributes that share a
/// mapped file cannot be written.
static void inlineConstants(ModuleOp module) {
  module.walk([](stablehlo::ConstantOp constant) {
    if (!isa<DenseResourceElementsAttr>(constant.getValue()))
      return;
    if (std::optional<Tensor> tensor = toTensor(constant.getValue()))
      constant.setValueAttr(toDenseAttribute(*tensor, constant.getContext()));
  });
}

/// \p value cast to the type that its users expect: a decomposition may infer
/// other static sizes.
static Value withType(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return builder.create<stablehlo::ConvertOp>(value.getLoc(), type, value);
}

/// The name, in messages, of an operation without a form.
static std::string describe(Operation *op) {
  if (auto deferred = dyn_cast<nn::DeferredOp>(op))
    return (deferred.getKind() + " (" + deferred.getReason() + ")").str();
  return op->getName().getStringRef().str();
}

/// Decomposes `nn` operations to `stablehlo` ones, repeatedly if a
/// decomposition contains `nn` operations.
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
      // A decomposition may look through the reshape of an operand.
      for (Value operand : operands)
        if (auto reshape = operand.getDefiningOp<stablehlo::ReshapeOp>();
            reshape && reshape->use_empty())
          reshape.erase();
    }
    if (failed.empty())
      continue;
    return inFile(
        withHint(optionText("shape") + " may help where dimensions are unknown",
                 unsupported("not to be expressed in StableHLO: " +
                             formats::listOf(failed))),
        model.path);
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
  return inFile(artifact.takeError(), model.path);
}

/// The short form if every StableHLO tool can read it.
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
      return inFile(
          unsupported("takes or gives indices that are converted, for "
                      "which portable artifacts have no operation; write "
                      ".mlir, or use integers"),
          model.path);
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
