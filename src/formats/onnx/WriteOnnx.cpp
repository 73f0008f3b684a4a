#include "formats/onnx/WriteOnnx.h"

#include "formats/import/Unsupported.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/Headers.h"
#include "formats/onnx/file/ModelCheck.h"
#include "formats/onnx/write/GraphWriter.h"
#include "graph/WeightConstants.h"
#include "graph/storage/Storage.h"

using namespace mlir;

namespace sinter {

using namespace onnx;

/// For a model that declares no operator set: the first version with
/// LayerNormalization, which all current runtimes support.
static constexpr int64_t defaultVersion = 17;
/// The oldest version of the file format that allows an operator set (ONNX,
/// docs/Versioning.md) and initializers that are no inputs (4).
static int64_t irVersionFor(int64_t opset) {
  struct {
    int64_t opset, irVersion;
  } table[] = {{9, 4},  {10, 5},  {11, 6},  {14, 7}, {18, 8},
               {20, 9}, {22, 10}, {23, 11}, {24, 12}};
  for (auto [last, irVersion] : table)
    if (opset <= last)
      return irVersion;
  return 13;
}

static int64_t declaredVersion(ModuleOp module) {
  if (auto declared =
          keptOfSource<DictionaryAttr>(module, formatName, opsetsAttribute))
    if (auto number = declared.getAs<IntegerAttr>("ai.onnx"))
      return number.getInt();
  return defaultVersion;
}

/// The version of the operator set that \p model declares; 0 if it declares
/// none.
static int64_t standardVersion(const ModelProto &model) {
  for (const OperatorSetIdProto &each : model.opset_import())
    if (isStandardDomain(each.domain()))
      return each.version();
  return 0;
}

/// Sets a model's metadata. A model that was ONNX \p before keeps its own.
static void setHeader(ModelProto &proto, const ModelProto &before,
                      int64_t version) {
  if (!before.has_ir_version()) {
    proto.set_ir_version(irVersionFor(version));
    proto.set_producer_name("sinter");
    proto.set_producer_version(SINTER_VERSION);
    return;
  }
  // The first version with initializers that are no inputs.
  constexpr int64_t firstWithConstants = 4;
  copyHeader(before, proto);
  *proto.mutable_functions() = before.functions();
  int64_t irVersion = before.ir_version();
  if (proto.graph().initializer_size() > 0)
    irVersion = std::max(irVersion, firstWithConstants);
  if (version > standardVersion(before) &&
      standardVersion(proto) > standardVersion(before))
    irVersion = std::max(irVersion, irVersionFor(version));
  proto.set_ir_version(irVersion);
}

Result<void> writeOnnx(const Model &model, const std::string &path) {
  if (!model.entry())
    return inFile(invalidModel(whyNoEntry(model.module())), path);
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  if (!storage->states().empty())
    return inFile(unsupported("ONNX has no form for state '" +
                              storage->states().front().spec.name +
                              "'; freeze makes it a constant"),
                  path);
  int64_t version = declaredVersion(model.module());
  while (true) {
    Model copy = model.clone();
    listWeights(copy.module(), copy.entry());
    GraphWriter writer(copy.module(), version);
    writer.run();
    if (writer.requiredVersion() > version) {
      version = writer.requiredVersion();
      continue;
    }
    if (!writer.unsupportedOps().empty())
      return inFile(unsupported("ONNX has no form for: " +
                                formats::listOf(writer.unsupportedOps(), "; ")),
                    path);
    ModelProto &proto = writer.model();
    setHeader(proto, writer.original(), version);
    return writer.data().write(proto, path);
  }
}

} // namespace sinter
